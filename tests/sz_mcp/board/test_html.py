"""What agents chose is text, whatever it is; a page holds no inline script and no foreign link."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sz_mcp.board.html import Markup, address, element, join, text


class Collected(HTMLParser):
    """Tags, attributes and text of a page, as a browser's parser finds them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(page: str) -> Collected:
    found = Collected()
    found.feed(page)
    found.close()
    return found


@given(st.text())
def test_any_text_stays_one_text_in_an_element_and_in_an_attribute(words: str) -> None:
    found = parsed(element("p", words, title=words))

    assert found.tags == ["p"]
    assert [name for name, _ in found.attributes] == ["title"]
    shown = "".join(found.texts)
    assert found.attributes[0][1] == shown
    assert shown == text(words).replace("&lt;", "<").replace("&gt;", ">").replace(
        "&quot;", '"'
    ).replace("&#39;", "'").replace("&amp;", "&")


def test_characters_that_reorder_or_hide_text_become_visible() -> None:
    assert text("a\u202eb\u200bc\x00d\ud800") == "a\\u202eb\\u200bc\\u0000d\\ud800"


def test_text_of_all_languages_is_left_alone() -> None:
    assert text("Köln 東京 😀\tx\n") == "Köln 東京 😀\tx\n"


@pytest.mark.parametrize("name", ["onclick", "onerror", "style", "srcdoc", "ONLOAD"])
def test_no_element_takes_script_or_style(name: str) -> None:
    with pytest.raises(ValueError, match="no page may have"):
        element("p", **{name: "x"})


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "https://example.org", "//example.org", "data:text/html,x", "\\\\x",
     " javascript:alert(1)", "JAVASCRIPT:x", "java\nscript:x", "/\\example.org"],
)  # fmt: skip
def test_no_element_links_elsewhere(url: str) -> None:
    with pytest.raises(ValueError, match="link to nothing but themselves"):
        element("a", "x", href=url)


@given(st.text())
def test_a_link_carries_any_name(name: str) -> None:
    link = address("agent", name=name)

    assert parsed(element("a", "x", href=link)).attributes == [("href", link)]


def test_children_are_escaped_unless_they_are_markup() -> None:
    assert join("<", Markup("<b>"), ["&", None, 3]) == "&lt;<b>&amp;3"

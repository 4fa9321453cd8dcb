"""The token file: who is let in, and what a bad file says without showing a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from sz_mcp.errors import SettingsError
from sz_mcp.tokens import read_tokens

SECRET = "0123456789abcdef"


def written(folder: Path, text: str) -> Path:
    path = folder / "tokens.toml"
    path.write_text(text)
    return path


@pytest.mark.anyio
async def test_the_holder_of_a_token_is_known_by_its_name(tmp_path: Path) -> None:
    tokens = read_tokens(written(tmp_path, f'[tokens.ada]\ntoken = "{SECRET}"\nagent = "a"\n'))

    access = await tokens.verify_token(SECRET)

    assert access is not None
    assert access.client_id == "ada"
    assert tokens.by_name["ada"].agent == "a"
    assert SECRET not in repr(tokens.by_name["ada"])
    assert await tokens.verify_token(SECRET + "x") is None
    assert await tokens.verify_token("") is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "has no tables"),
        ("tokens = 3", "has no tables"),
        ("[tokens.ada", "can't be read"),
        (f'[tokens.ada]\ntoken = "{SECRET}"\n', "agent: Field required"),
        ('[tokens.ada]\ntoken = "short"\nagent = "a"\n', "token: String should have at least 16"),
        (f'[tokens.ada]\ntoken = "{SECRET}"\nagent = "a"\ncolour = 1\n', "colour: Extra inputs"),
        (
            f'[tokens.a]\ntoken = "{SECRET}"\nagent = "a"\n'
            f'[tokens.b]\ntoken = "{SECRET}"\nagent = "b"\n',
            "a token of its own",
        ),
    ],
)
def test_a_bad_file_is_refused_without_its_secrets(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(SettingsError, match=complaint) as refused:
        read_tokens(written(tmp_path, text))

    assert SECRET not in str(refused.value)
    assert "short" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't be read"):
        read_tokens(tmp_path / "none.toml")

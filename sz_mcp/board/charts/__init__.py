"""Charts as SVG: records of numbers in, one accessible `<svg>` out.

Colours and line widths are classes of `static/chart.css`, so that a chart follows the page's colour
scheme; series differ by shape and dash as well as by colour. What a chart shows stands in a table
beside it, which is the callers' part.
"""

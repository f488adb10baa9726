"""The configuration of Sphinx. script/docs stages the pages and calls it; see docs/site/stage.py."""

import os
import pathlib

from markdown_it import parser_inline

project = "Bandana"
author = copyright = "the authors of Bandana"
html_title = "Bandana"
language = "en"
root_doc = "index"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "breathe"]
myst_heading_anchors = 4
myst_disable_syntax = ["html_inline", "html_block"]  # <x, z> is an inner product here, and no page has HTML
highlight_language = "none"


def stars_only(tokenize):
    """Emphasis is written with stars on our pages. An underscore is an index, as in |M|_F."""
    return lambda state, silent: state.src[state.pos] != "_" and tokenize(state, silent)


parser_inline._rules = [(name, stars_only(rule) if name == "emphasis" else rule) for name, rule in parser_inline._rules]
smartquotes = False  # x' is a transpose

site = pathlib.Path(__file__).parent / "site"
html_theme = "furo"
html_static_path = [str(site / "static")]
templates_path = [str(site / "templates")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse for pages that are opened as files
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c7a", "color-brand-content": "#0b5c7a"},
    "dark_css_variables": {"color-brand-primary": "#6cc5e5", "color-brand-content": "#6cc5e5"},
}

napoleon_use_ivar = True
autodoc_typehints = "description"
autodoc_member_order = "bysource"

breathe_projects = {"bandana": os.environ["BANDANA_DOXYGEN"]}
breathe_default_project = "bandana"


def escape_bars(app, what, name, thing, options, lines):
    """In a docstring |x| is a norm. In reStructuredText it would be a substitution."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", "\\|") for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars)

"""Configuration of the documentation: ``sphinx-build -W docs docs/_build``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "tests" / "support")]

import api_pages  # noqa: E402
import source_links  # noqa: E402

import treeform  # noqa: E402
from treeform.graph.svg import Drawing  # noqa: E402

# sphinx-gallery shows objects that have HTML; a drawing's SVG is that too.
Drawing._repr_html_ = Drawing._repr_svg_  # type: ignore[attr-defined]

project = "treeform"
author = "the treeform authors"
copyright = "the treeform authors"
release = version = treeform.__version__

api_pages.write_pages(HERE / "reference" / "packages")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "treeform_docs",
    "gallery_examples",
    "benchmark_tables",
    "project_pages",
    "number_columns",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "**/GALLERY_HEADER.rst"]
nitpicky = True
# Signatures show some bridges as default values, such as <linear -> clause>.
nitpick_ignore_regex = [("py:class", r".*->.*")]

linkcode_resolve = source_links.link_to

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": False}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "treeform"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ("index", "quickstart", "cli", "spec", "changelog")}
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

# The published site has several versions (docs/_ext/site_versions.py). DOCS_SITE is its address and DOCS_VERSION
# the folder of this build; without them there is nothing to switch between.
if os.environ.get("DOCS_SITE"):
    html_theme_options |= {
        "switcher": {
            "json_url": f"{os.environ['DOCS_SITE'].rstrip('/')}/switcher.json",
            "version_match": os.environ.get("DOCS_VERSION", "dev"),
        },
        "check_switcher": False,  # the list is written after the build
        "show_version_warning_banner": True,
        "navbar_end": ["version-switcher", "theme-switcher"],
    }

# sphinx-build -b linkcheck: outside links, where there is a network. Inside ones are warnings of every build.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_anchors = False
linkcheck_workers = 4

GROUPS = ("first_steps", "requirements", "fairness", "solvers", "own_parts")
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "subsection_order": [f"../examples/{group}" for group in GROUPS],
    "filename_pattern": r"/\w+\.py$",
    "ignore_pattern": r"/data/|__init__",
    "reset_modules": ("treeform_docs.name_example",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_",),
    "min_reported_time": 5,
    "image_scrapers": ("gallery_examples.draw_model",),
    "default_thumb_file": str(HERE / "readme_tree.svg"),
}

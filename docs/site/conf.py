# Sphinx on the staged pages (build.py). Nothing in the site is fetched when it is read.
project = "doetune"
author = "The doetune authors"
root_doc = "index"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
highlight_language = "none"
smartquotes = False
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = "doetune"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

"""Hooks of mkdocs: headings get the anchors that GitHub gives them, so that a link works in both places."""

import re


def slug(text, separator):
    """The anchor of a heading: lower case, no punctuation, a hyphen for each space."""
    kept = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return kept.replace(" ", separator)


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config

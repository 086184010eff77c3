"""Cleaning removes only the markers of comments and string literals."""

import pytest

from codesearch.parsing.docstrings import (
    clean_comment,
    clean_string_literal,
    clean_xml,
    first_paragraph,
    is_block_comment,
)


@pytest.mark.parametrize(
    ("comment", "text"),
    [
        ("// Sort it.", "Sort it."),
        ("/// Sort it.\n/// In place.", "Sort it.\nIn place."),
        ("# Sort it.\n#\n# Slowly.", "Sort it.\n\nSlowly."),
        ("##\n# Sort it.", "Sort it."),
        ("-- Sort it.", "Sort it."),
        ("--- Sort it.\n-- @param x a list", "Sort it.\n@param x a list"),
        ("--[[ Sort\nit. ]]", "Sort\nit."),
        ("--[==[ Sort it. ]==]", "Sort it."),
        ("/* Sort it. */", "Sort it."),
        ("/**\n * Sort it.\n *\n * @param x a list\n */", "Sort it.\n\n@param x a list"),
        ("/**\r\n * Sort\r\n * it.\r\n */", "Sort\nit."),
        ("/*! Sort it. */", "Sort it."),
        ("=begin\nSort\nit.\n=end", "Sort\nit."),
        ("/// # Examples\n/// a[b[1]]", "# Examples\na[b[1]]"),
        ("/* Sort a[b[1]] */", "Sort a[b[1]]"),
        ("/** @brief Sort it. */", "Sort it."),
        ("/// \\brief Sort it.", "Sort it."),
        ('@doc """\n  Sort\n  it.\n  """', "Sort\nit."),
        ('@doc ~S"""\nSort it.\n"""', "Sort it."),
        ('@typedoc "Sort it."', "Sort it."),
        ("-- | Sort\n-- it.", "Sort\nit."),
        ("{- | Sort it. -}", "Sort it."),
    ],
)
def test_comment_markers_are_removed(comment, text):
    assert clean_comment(comment) == text


@pytest.mark.parametrize(
    "comment",
    [
        "//////////",
        "##########",
        "/* ----- */",
        "/**/",
        "/***/",
        "/********\n ********/",
        "// =====",
        "--------",
    ],
)
def test_a_banner_without_text_is_not_a_docstring(comment):
    assert clean_comment(comment) == ""


@pytest.mark.parametrize(
    ("comment", "text"),
    [
        ("//////////\n// Sort it.\n//////////", "Sort it."),
        ("##########\n# Sort it.   #\n##########", "Sort it."),
        ("/*************\n * Sort it.  *\n *************/", "Sort it."),
        ("// ---- Sorting ----", "Sorting"),
        ("//===-- Sorting --------===//", "Sorting"),
    ],
)
def test_a_frame_around_a_comment_is_removed(comment, text):
    assert clean_comment(comment) == text


@pytest.mark.parametrize(
    "directive",
    [
        "// eslint-disable-next-line no-eval",
        "# rubocop:disable Metrics/AbcSize",
        "//go:noinline",
        "# shellcheck disable=SC2034",
        "# frozen_string_literal: true",
        "# -*- coding: utf-8 -*-",
        "/* istanbul ignore next */",
    ],
)
def test_a_directive_for_a_tool_is_not_a_docstring(directive):
    assert clean_comment(directive) == ""


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"""Sort it.\n\n    Slowly.\n      Or not.\n    """', "Sort it.\n\nSlowly.\n  Or not."),
        ("'Sort it.'", "Sort it."),
        ('r"""Sort \\d."""', "Sort \\d."),
        ("'''Don't sort.'''", "Don't sort."),
    ],
)
def test_string_literals_lose_quotes_and_common_indentation(literal, text):
    assert clean_string_literal(literal) == text


def test_xml_documentation_becomes_text_with_tags():
    docstring = (
        '<summary>\nFind an <see cref="T:Shop.Order"/> by <paramref name="id"/>.\n</summary>\n'
        '<param name="id">Its number.</param>\n<returns>The order.</returns>'
    )
    assert clean_xml(docstring) == "Find an Shop.Order by id.\n@param id Its number.\n@returns The order."


def test_other_markup_is_not_changed():
    assert clean_xml("<p>Find an order.</p>") == "<p>Find an order.</p>"


def test_only_comments_with_an_end_mark_are_blocks():
    assert is_block_comment("/* a */")
    assert is_block_comment("--[[ a ]]")
    assert not is_block_comment("// a")
    assert not is_block_comment("-- a")


def test_the_first_paragraph_ends_at_a_blank_line_or_a_tag():
    assert first_paragraph("Sort it\nin place.\n@param x a list") == "Sort it in place."
    assert first_paragraph("Sort it.\n\nSlowly.") == "Sort it."
    assert first_paragraph("") == ""

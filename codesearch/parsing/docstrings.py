"""Comments and string literals as written -> the prose in them."""

from __future__ import annotations

import inspect
import re

MAX_DOCSTRING = 8_000
"""Characters of documentation that a document keeps."""
_MAX_SENTENCE = 160

_STRING = re.compile(r"^[A-Za-z]{0,2}('''|\"\"\"|'|\")(.*)\1$", re.DOTALL)  # The quotes; the text.
_BLOCK_OPEN = re.compile(
    r"^(/\*+!?|\(\*+|--\[=*\[|=begin\b|\{-+(?: ?[|^])?|@(?:type)?doc\s+(?:~[sS])?\"+|\"{3}|<#)"
)
_BLOCK_CLOSE = re.compile(r"(\*+/|\*+\)|\]=*\]|\n=end\b.*|-+\}|\"+|#>)\s*$")
_LINE_MARK = re.compile(r"^\s*(/{2,}[!<]?|#+[!']?|--+(?: [|^](?= ))?|[;%]+|!+(?= )|\*(?!\*))\s?")
_STAR = re.compile(r"^\s*\*+(?!/) ?")
_RULE = re.compile(r"[-=*/#~_+|\s]+")
_EDGE = re.compile(r"^[-=*/#~_+]{3,}\s*|\s*[-=*/#~_+]{3,}$|\s{2,}[*#|/]$")
_UNDERLINE = re.compile(r" [=~^\"-]{4,}$")
_ABBREVIATED = "".join(
    rf"(?<!{word}\.)" for word in (r"e\.g", r"i\.e", r"\beg", r"\bie", r"\bcf", r"\bvs", r"\s1")
)
_SENTENCE = re.compile(rf"(.+?[.!?])(?:(?<=[!?])|{_ABBREVIATED})(?:\s|$)")
_BRIEF = re.compile(r"^(?:[@\\](?:brief|short|description|desc)\b|\.(?:SYNOPSIS|DESCRIPTION)\b)\s*")
_INLINE = re.compile(r"\{(?:@\w+\s+|!(?:\w+:)?)([^{}]*)\}|^<p>\s*|</p>|</?(?:code|em|pre|tt)>")
# Paragraphs that say nothing about the code below: headings, licences, notes to the authors, addresses, code.
_NO_SUMMARY = re.compile(
    r"""={1,4}\s | \#+\s | call-seq: | \{@inheritDoc\}$ | <\w+\ [^>]*/>$ | \w+://\S+$ | [\w+.-]+\.[a-z]{1,5}(?:\ \w+)?$
    | (?:TODO|FIXME|XXX|HACK:)(?!\w) | Created\ (?:by|on)\b | [\w.!]+\((?:[^.]|\.\.\.)*\)$ | \w+=[`$"'(]
    | (?:const|constexpr|let|var|static|return|if|for)\b.*[;{]$
    | (?:This\ (?:file|code)\ |Code\ |Auto-?).{,30}generated\b | [\w.-]+\ v\d+\.\d""",
    re.VERBOSE | re.IGNORECASE,
)
_TABLE = "== Schema Information"  # The columns of a table follow, as a tool for Rails writes them.
_LICENCE = re.compile(r"Copyright (?:\(|1|2)|\(c\) [12]|©|SPDX-|All rights reserved")
_TAG = re.compile(r"^[ \t]*(?:@|:param|:return|\\param)", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
# Comments for tools. They are not documentation.
_DIRECTIVE = re.compile(
    r"""eslint|@ts|rubocop:|shellcheck\ |pylint:|nolint|noqa|go:\w|prettier-ignore|istanbul\ |c8\ |clang-format\ 
    |swiftlint:|MARK:|pragma:|type:\ ?ignore|frozen_string_literal:|-\*-|phpcs:|@phpstan|@formatter:|@__|vim?:\ 
    |(?:en)?coding:\ |!(?:strict|nonstrict|nocheck|nolint|native|optimize)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_XML_START = re.compile(r"\s*<(?:summary|inheritdoc|remarks|param|returns|value|typeparam|exception|see)\b")
_XML_REFERENCE = re.compile(r"<(?:see|seealso|paramref|typeparamref)\b[^<>\"]*\"(?:\w:)?([^\"]*)\"[^<>]*/>")
_XML_TAG = re.compile(r"<(param|typeparam|exception|returns)\b(?:[^<>\"]*\"([^\"]*)\")?[^<>]*>")
_XML_OTHER = re.compile(r"</?\w+[^<>]*>")


def clean_string_literal(literal: str) -> str:
    """Strip quotes, prefixes and common indentation from a docstring literal."""
    literal = literal.replace("\r\n", "\n")
    match = _STRING.match(literal.strip())
    return inspect.cleandoc(match.group(2) if match else literal).strip()


def clean_comment(comment: str) -> str:
    r"""Strip comment markers of any supported language.

    >>> clean_comment("/** Sort\n * it. */")
    'Sort\nit.'
    """
    text = comment.strip()
    if _BLOCK_OPEN.match(text):
        text = _BLOCK_CLOSE.sub("", _BLOCK_OPEN.sub("", text))
        lines = [_STAR.sub("", line).strip() for line in text.splitlines()]
    else:
        lines = [_LINE_MARK.sub("", line).strip() for line in text.splitlines()]
    kept = [_EDGE.sub("", line) for line in lines if not (_RULE.fullmatch(line) or _DIRECTIVE.match(line))]
    return _BRIEF.sub("", "\n".join(kept).strip())


def is_block_comment(comment: str) -> bool:
    """Say whether a comment has an end mark, as `/* */` has and `//` has not."""
    return _BLOCK_OPEN.match(comment.lstrip()) is not None


def clean_xml(docstring: str) -> str:
    r"""Turn C#'s XML documentation into text with `@` tags; leave any other as it is.

    >>> clean_xml('<summary>\nAdd <see cref="T:Order"/>.\n</summary>\n<param name="n">How many.</param>')
    'Add Order.\n@param n How many.'
    """
    if not _XML_START.match(docstring):
        return docstring
    text = _XML_REFERENCE.sub(r"\1", docstring)
    text = _XML_TAG.sub(lambda tag: f"@{tag[1]} {tag[2]} " if tag[2] else f"@{tag[1]} ", text)
    lines = [_XML_OTHER.sub("", line).strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line)


def first_paragraph(docstring: str) -> str:
    r"""Return the first paragraph of a docstring that is prose, up to its first tag, as one line.

    >>> first_paragraph("Sort it\nin place.\n\nSlow.\n@param x"), first_paragraph("== Heading\n\nSort it.")
    ('Sort it in place.', 'Sort it.')
    """
    tag = _TAG.search(docstring)
    for part in _BLANK_LINES.split(docstring[: tag.start()] if tag else docstring):
        paragraph = " ".join(part.split())
        if paragraph == _TABLE:
            break
        if paragraph and not (_NO_SUMMARY.match(paragraph) or _LICENCE.search(paragraph)):
            return paragraph
    return ""


def first_sentence(docstring: str) -> str:
    r"""Return the first sentence of a docstring as one line, with at most 160 characters.

    >>> first_sentence("Sort it\nin place. It is stable."), first_sentence("Tagged JSON\n~~~~~~~~~~~\n\nMore.")
    ('Sort it in place.', 'Tagged JSON')
    """
    paragraph = _UNDERLINE.sub("", _INLINE.sub(r"\1", first_paragraph(docstring))).strip()
    match = _SENTENCE.match(paragraph)
    sentence = match[1] if match else paragraph
    return sentence if len(sentence) <= _MAX_SENTENCE else f"{sentence[: _MAX_SENTENCE - 1]}…"

"""Text of files that are not UTF-8."""

import time

import pytest

from codesearch.parsing.decoding import decoded

GERMAN = "// Größe für Übermaß, naïve, “quoted”, 5 €"
RUSSIAN = "# Загружает корзину и проверяет наличие товара на складе"
JAPANESE = "# カートを読み込む関数です。在庫を確認します"
KOREAN = "// 이 함수는 장바구니를 읽고 재고를 확인합니다"
CHINESE = "// 这个函数用来读取购物车并且检查库存是否足够，如果不够就返回错误"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_decides(encoding):
    text = "def größe():\r\n    return '𝄞'\r\n"
    mark = "" if encoding == "utf-16" else "\ufeff"
    assert decoded((mark + text).encode(encoding)).decode() == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "cp949"),
        (CHINESE, "gb18030"),
    ],
)
def test_text_of_a_code_page_is_recognised_by_its_words(text, encoding):
    assert decoded(f"int f();\n{text}\n".encode(encoding)).decode() == f"int f();\n{text}\n"


def test_zero_bytes_at_the_end_of_a_text_are_dropped():
    assert decoded(b"int f();\n\0\0") == b"int f();\n"


def test_a_declaration_names_the_code_page():
    text = "#!/usr/bin/python\n# -*- coding: iso-8859-2 -*-\n# Zażółć gęślą jaźń\n"
    assert decoded(text.encode("iso-8859-2")).decode() == text
    html = '<meta charset="windows-1253">Ελλάδα\n'
    assert decoded(html.encode("cp1253")).decode() == html


@pytest.mark.parametrize("name", ["punycode", "utf-7", "rot13", "cp99999", "hex", "unicode_escape"])
def test_a_declaration_of_anything_else_does_not_count(name):
    assert decoded(f"# coding: {name}\n# é\n".encode("cp1252")).decode() == f"# coding: {name}\n# é\n"


@pytest.mark.parametrize(
    "content",
    [
        b"plain\r\nlines\n",
        "größe\n".encode(),
        b"\xef\xbb\xbfx = 1\n",
        "é and è and ".encode() + b"\xe9\n",  # UTF-8 with one error.
        b"Gr\x94\xe1e f\x81r\n",  # No code page of Windows has all of these bytes.
        b"MZ\x00\x00\xff\r\x00",
        "x = 1\n".encode("utf-16-le"),
    ],
)
def test_what_is_utf8_binary_or_unknown_stays_as_it_is(content):
    assert decoded(content) == content


def test_a_carriage_return_alone_ends_a_line():
    assert decoded(b"a\rb\r\nc\n\rd\r") == b"a\nb\r\nc\n\nd\n"
    assert decoded("é\rb".encode("utf-16")) == "é\nb".encode()


@pytest.mark.parametrize(
    "content", [b"\xff", b"\xe4\xf6", b"\xb0\xa1\x20", b"\r", b"\xd0\xe0\xe1\n", b"\xef"]
)
def test_decoding_is_linear_in_the_bytes(content):
    started = time.process_time()
    decoded(content * (600_000 // len(content)))
    assert time.process_time() - started < 1

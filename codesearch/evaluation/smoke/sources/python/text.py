"""Work on words, lines and characters."""

import re
import textwrap
import unicodedata
from collections import Counter

MORSE = {
    "a": ".-",
    "b": "-...",
    "c": "-.-.",
    "d": "-..",
    "e": ".",
    "f": "..-.",
    "g": "--.",
    "h": "....",
    "i": "..",
    "j": ".---",
    "k": "-.-",
    "l": ".-..",
    "m": "--",
    "n": "-.",
    "o": "---",
    "p": ".--.",
    "q": "--.-",
    "r": ".-.",
    "s": "...",
    "t": "-",
    "u": "..-",
    "v": "...-",
    "w": ".--",
    "x": "-..-",
    "y": "-.--",
    "z": "--..",
}


def levenshtein_distance(left, right):
    """Count the insertions, deletions and substitutions that turn one word into another."""
    previous = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            change = previous[column - 1] + (a != b)
            current.append(min(change, previous[column] + 1, current[-1] + 1))
        previous = current
    return previous[-1]


def hamming(left, right):
    """Number of positions at which two words of one length differ."""
    if len(left) != len(right):
        raise ValueError("the words differ in length")
    return sum(a != b for a, b in zip(left, right))


def slugify(title, max_length=60):
    """Make a title fit for a URL: lower case, ASCII, words joined by hyphens."""
    plain = strip_accents(title).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    return slug[:max_length].rstrip("-")


def strip_accents(text):
    """Replace letters such as é and ü by their plain forms."""
    decomposed = unicodedata.normalize("NFKD", text)
    kept = (ch for ch in decomposed if not unicodedata.combining(ch))
    return "".join(kept)


def wrap_paragraphs(text, width=72):
    """Break long lines at word boundaries, keeping blank lines between paragraphs."""
    wrapped = []
    for paragraph in re.split(r"\n\s*\n", text):
        words = " ".join(paragraph.split())
        wrapped.append(textwrap.fill(words, width))
    return "\n\n".join(wrapped)


def indent_lines(text, prefix="    "):
    """Put a prefix before each line that is not empty."""
    lines = []
    for line in text.splitlines(keepends=True):
        lines.append(prefix + line if line.strip() else line)
    return "".join(lines)


def dedent_lines(text):
    """Take the common leading white space away from all lines."""
    lines = text.splitlines()
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join(line[margin:] for line in lines)


def word_frequencies(text, top=None):
    """Count how often each word occurs, most frequent first."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return Counter(words).most_common(top)


def is_palindrome(phrase):
    letters = [ch for ch in phrase.lower() if ch.isalnum()]
    middle = len(letters) // 2
    for i in range(middle):
        if letters[i] != letters[-1 - i]:
            return False
    return True


def to_morse(message):
    """Spell a message in dots and dashes, words parted by a slash."""
    words = []
    for word in message.lower().split():
        words.append(" ".join(MORSE[ch] for ch in word if ch in MORSE))
    return " / ".join(words)


def from_morse(signal):
    """Read dots and dashes back into letters."""
    letters = {code: letter for letter, code in MORSE.items()}
    words = []
    for word in signal.split("/"):
        words.append("".join(letters.get(code, "?") for code in word.split()))
    return " ".join(words)


def shorten(text, limit, ellipsis="..."):
    """Truncate a text to at most `limit` characters without cutting a word in two."""
    if len(text) <= limit:
        return text
    head = text[: limit - len(ellipsis)]
    if " " in head:
        head = head[: head.rindex(" ")]
    return head.rstrip() + ellipsis


def highlight(text, terms, before="<mark>", after="</mark>"):
    """Surround each search term in a text by marks, whatever its case."""
    if not terms:
        return text
    longest_first = sorted(map(re.escape, terms), key=len, reverse=True)
    pattern = re.compile("|".join(longest_first), re.IGNORECASE)
    return pattern.sub(lambda match: before + match[0] + after, text)


def common_prefix(words):
    if not words:
        return ""
    first, last = min(words), max(words)
    for position, letter in enumerate(first):
        if position >= len(last) or last[position] != letter:
            return first[:position]
    return first


def fill_template(template, values):
    """Replace {{ name }} placeholders by values; an unknown name is a KeyError."""

    def value_of(match):
        name = match.group(1)
        if name not in values:
            raise KeyError(f"template needs {name!r}")
        return str(values[name])

    return re.sub(r"\{\{\s*(\w+)\s*\}\}", value_of, template)


def bytes_to_hex(data, group=0):
    """Write bytes as pairs of hexadecimal digits."""
    digits = [f"{byte:02x}" for byte in data]
    if not group:
        return "".join(digits)
    chunks = [digits[i : i + group] for i in range(0, len(digits), group)]
    return " ".join("".join(chunk) for chunk in chunks)


def hex_to_bytes(dump):
    """Read pairs of hexadecimal digits; blanks between them do not matter."""
    digits = "".join(dump.split())
    if len(digits) % 2:
        raise ValueError("odd number of digits")
    pairs = zip(digits[::2], digits[1::2])
    return bytes(int(high + low, 16) for high, low in pairs)

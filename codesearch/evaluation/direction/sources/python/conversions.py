def int_to_bytes(number):
    """Return the big-endian bytes of a number."""
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def int_from_bytes(data):
    """Return the number that big-endian bytes stand for."""
    return int.from_bytes(data, "big")


def strftime(date, fmt="%Y-%m-%d"):
    """Convert a date to a string according to a format."""
    return time.strftime(fmt, date.timetuple())


def strptime(string, fmt="%Y-%m-%d"):
    """Parse a string to a date according to a format."""
    return datetime.datetime.strptime(string, fmt).date()


def dict_to_namedtuple(mapping):
    return namedtuple("Record", mapping)(**mapping)


def namedtuple_to_dict(record):
    return record._asdict()


def urlencode(params: dict[str, str]) -> str:
    """Encode a dict of parameters into a URL query string."""
    return "&".join(f"{quote(key)}={quote(value)}" for key, value in params.items())


def parse_qs(query: str) -> dict[str, str]:
    """Parse a URL query string into a dict of parameters."""
    return dict(pair.split("=", 1) for pair in query.split("&"))


def ord_date(date: Date) -> int:
    return days_before_year(date.year) + days_before_month(date.year, date.month) + date.day


def date_from_ordinal(n: int) -> Date:
    year, month, day = split_ordinal(n)
    return Date(year, month, day)


def html_to_text(html):
    parser = TextExtractor()
    parser.feed(html)
    return parser.text()


def text_to_html(text):
    return "".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.split("\n\n"))


def df_to_records(df: DataFrame) -> list[dict]:
    return [dict(zip(df.columns, row)) for row in df.values]


def df_from_records(records: list[dict]) -> DataFrame:
    return DataFrame(records, columns=list(records[0]))


def utc_to_local(moment):
    """Shift a UTC time to the local zone."""
    return moment.replace(tzinfo=timezone.utc).astimezone()


def local_to_utc(moment):
    return moment.astimezone(timezone.utc)


def str_to_bool(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "on")


def bool_to_str(value: bool) -> str:
    return "yes" if value else "no"


def tensor_to_image(tensor):
    """Convert a tensor of shape C x H x W to a PIL image."""
    return Image.fromarray(tensor.mul(255).byte().permute(1, 2, 0).numpy())


def image_to_tensor(image):
    """Convert a PIL image to a tensor of shape C x H x W."""
    return torch.from_numpy(np.asarray(image)).permute(2, 0, 1).float().div(255)


def edges_to_matrix(edges: list[tuple[int, int]], size: int) -> list[list[int]]:
    matrix = [[0] * size for _ in range(size)]
    for source, target in edges:
        matrix[source][target] = 1
    return matrix


def matrix_to_edges(matrix: list[list[int]]) -> list[tuple[int, int]]:
    return [(i, j) for i, row in enumerate(matrix) for j, cell in enumerate(row) if cell]

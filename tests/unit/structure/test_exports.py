"""Usages under the other names that imports, exports and barrels give a definition."""

import unicodedata
from collections.abc import Callable

import pytest

from codesearch.structure.places import find_spots
from codesearch.structure.usages import find_usages

Ask = Callable[[dict[str, str], str], list[str]]


@pytest.fixture
def used(index_of) -> Ask:
    def ask(tree: dict[str, str], name: str) -> list[str]:
        index = index_of(tree)
        found = find_usages([index], name, limit=100, all_code=True)
        return sorted(f"{one.path}:{one.line}" for one in found.usages if one.grade == "certain")

    return ask


def test_a_default_export_is_used_by_the_name_of_each_import(used):
    tree = {
        "src/rope.ts": "export default class Rope {\n  knot() { return 1 }\n}\n",
        "src/climb.ts": "import Line, { other } from './rope'\nexport const top = () => new Line()\n",
        "src/old.js": "const Cord = require('./rope')\nmodule.exports = () => Cord\n",
        "src/stranger.ts": "import Line from './wire' // No rope.\nexport const low = () => new Line()\n",
    }
    lines = ["src/climb.ts:1", "src/climb.ts:2", "src/old.js:1", "src/old.js:2"]
    assert used(tree, "src/rope.ts:1") == used(tree, "Rope") == lines


def test_names_are_followed_through_two_barrels(used):
    tree = {
        "lib/shape/ring.ts": "export function ring() { return 1 }\nexport default ring\n",
        "lib/shape/index.ts": "export { ring as circle } from './ring'\nexport { default as loop } from './ring'\n",
        "lib/index.ts": "export * from './shape'\n",
        "app.ts": "import { circle, loop as noose } from './lib'\ncircle()\nnoose()\n",
        "other.ts": "import { circle } from './compass'\ncircle()\n",
    }
    assert used(tree, "lib/shape/ring.ts::ring") == [
        "app.ts:1", "app.ts:2", "app.ts:3", "lib/shape/index.ts:1", "lib/shape/ring.ts:2",
    ]  # fmt: skip


def test_a_module_of_javascript_exports_under_other_names(used):
    tree = {
        "lib/area.js": "function area(r) { return r }\nfunction side(r) { return r }\n"
        "module.exports = { surface: area }\nexports.edge = side\n",
        "use.js": "const { surface, edge } = require('./lib/area')\n\nsurface(edge(2))\n",
        "far.js": "const { surface } = require('./sea')\nsurface(2)\n",
    }
    assert used(tree, "lib/area.js:1") == ["lib/area.js:3", "use.js:1", "use.js:3"]
    assert used(tree, "lib/area.js::side") == ["lib/area.js:4", "use.js:1", "use.js:3"]


def test_a_package_of_python_exports_what_it_imports(used):
    tree = {
        "farm/milk.py": "def churn(x):\n    return x\n",
        "farm/__init__.py": "from .milk import churn as butter\n",
        "sell.py": "import farm\nfrom farm import butter as spread\n\nspread(1)\nfarm.butter(2)\nother.butter(3)\n",
    }
    wanted = ["farm/__init__.py:1", "sell.py:2", "sell.py:4", "sell.py:5"]
    assert used(tree, "farm/milk.py::churn") == wanted


def test_an_import_comes_before_the_name_that_a_file_gives_to_its_anonymous_export(used):
    tree = {
        "src/badge.js": "export function badge(x) { return x }\n",
        "src/view/badge.jsx": "import { badge } from '../badge'\nexport default () => {\n  return badge(1)\n}\n",
    }
    assert used(tree, "src/badge.js:1") == ["src/view/badge.jsx:1", "src/view/badge.jsx:3"]
    assert used(tree, "src/view/badge.jsx:2") == []


def test_what_is_required_is_an_import_and_no_definition(used):
    tree = {
        "lib/post.js": "function post() {}\nmodule.exports = post\n",
        "a.js": "const post = require('./lib/post')\npost()\n",
        "b.js": "const post = require('./lib/post')\npost()\n",
    }
    assert used(tree, "post") == ["a.js:1", "a.js:2", "b.js:1", "b.js:2", "lib/post.js:2"]


def test_an_attribute_is_used_without_its_suffix(used):
    tree = {
        "Cached.cs": "class CachedAttribute : System.Attribute { }\n",
        "Page.cs": "class Page\n{\n    [Cached(2)]\n    int A;\n    [Old, Web.Cached]\n    int B;\n"
        "    int C = pages[Cached];\n    [Cached]\n    void Cached() { }\n}\n",
    }
    assert used(tree, "CachedAttribute") == ["Page.cs:3", "Page.cs:5", "Page.cs:8"]


@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_an_accent_may_be_a_letter_of_its_own(index_of, asked, written):
    source = "def naïve():\n    return 1\n\n\ndef use():\n    return naïve()\n"
    index = index_of({"a.py": unicodedata.normalize(written, source)})
    name = unicodedata.normalize(asked, "naïve")
    assert [one.line for one in find_usages([index], name).usages] == [6]
    assert [spot.first_line for spot in find_spots([index], f"a.py::{name}")] == [1]

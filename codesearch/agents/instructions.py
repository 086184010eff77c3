"""What an agent should know: when to use the tools, and when not."""

from __future__ import annotations

INSTRUCTIONS = """\
codesearch finds code by meaning, offline.
Use search_code first when you do not know the file or the exact name: "where is X done", "code that does Y". Give a
question, keywords or a name; special characters are plain text. One call replaces several rounds of grep and reading.
Use grep instead for every occurrence of a literal string, for regular expressions, and for files that are not indexed.
- search_code: find definitions. Filter by path, language or kind.
- read_definition: read one whole function or class, by path:line of a hit or by name (Stack.push).
- find_similar: find code like the definition at path:line, such as duplicates or other implementations.
- index_status: what is indexed and how old it is. Ask when a search finds nothing.
Not indexed: ignored files (.gitignore), binary and very large files, dependencies such as node_modules, languages
without a parser. Documentation and configuration are indexed only if the user
ran `codesearch index --content all`.
Hits are ranked guesses: if a note says that probably nothing does this, try other words once, then grep.
"""

AGENTS_MD = """\
## Code search

The MCP server `codesearch` searches this project by meaning. To find where something is done, call `search_code`
before grep. Then call `read_definition` with the `path:line` of a hit instead of reading the whole file. Use
`find_similar` for duplicates. Use grep for every occurrence of an exact string and for files that are not indexed;
`index_status` lists what is indexed. Without MCP, run `codesearch query "question" --compact`.
"""

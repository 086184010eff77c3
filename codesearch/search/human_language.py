"""A query -> whether it is in another human language than English, the only one that the model has learned."""

from __future__ import annotations

import re
import unicodedata

ENGLISH_ONLY = "the model knows English only: ask in English words"

# Words that are neither English nor usual in code: frequent ones, and those of programming.
_WORDS = frozenset(
    "adresse als archivo arquivo auf aus aux avec bei beim bild cadena calculer cette chaîne che com comment como "
    "con conexión connexion cuando cómo da dados dans das dass datei datos de dei del della delle dem den der des "
    "desde deux di diese dirección dos du dónde ein eine einem einen einer eines el em endereço entre est está "
    "fehler fichier für il ist la las le leer ler les lesen ligne lire lista liste lo los mit na nach nas nel "
    "nicht nos não oder ohne onde ordenar où par para pela pelo por pour quand quando que qui qué sans schreiben "
    "sem senza sin sobre sono suchen supprimer sur são tous trier uma umwandeln un und une usuario usuário "
    "utilisateur validar verbindung von wenn werden wie wird wo zahl zeichenkette zeile zum zur".split()
)
_WORD = re.compile(r"[^\W\d_]+")


def is_foreign(query: str) -> bool:
    """Say whether a query is probably not in English.

    >>> is_foreign("Datei mit einer Zeile lesen"), is_foreign("как прочитать файл"), is_foreign("ファイルを読み込む")
    (True, True, True)
    >>> is_foreign("la liste des fichiers"), is_foreign("read a file line by line"), is_foreign("naïve bayes")
    (True, False, False)
    """
    words = _WORD.findall(query.lower())
    letters = "".join(words)
    if sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters) * 2 > len(letters):
        return True
    signs = {word for word in words if word in _WORDS or not word.isascii()}
    return len(signs) > 1 or any(word in _WORDS and not word.isascii() for word in signs)

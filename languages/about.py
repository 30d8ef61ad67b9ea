"""What the languages and tasks are, and where they are from, in words; the names are those of the catalogue."""

from __future__ import annotations

__all__ = ["ABOUT_LANGUAGES", "ABOUT_TASKS"]

_SUN, _JOULIN = "Sun et al. 1993", "Joulin & Mikolov 2015"
_SUZGUN, _HAO = "Suzgun et al. 2019", "Hao et al. 2018"
_NONEMPTY = ", w not empty"

ABOUT_LANGUAGES: dict[str, tuple[str, str]] = {
    "1n0n": ("1^n 0^n, n >= 1", f"{_SUN}, section 4.2"),
    "anb2n": ("a^n b^2n, n >= 1", f"{_JOULIN}, section 5.1"),
    "anbmcnm": ("a^n b^m c^(n+m), n, m >= 1", f"{_JOULIN}, section 5.1"),
    "anbn": ("a^n b^n, n >= 1", f"{_JOULIN}, section 5.1"),
    "anbncn": ("a^n b^n c^n, n >= 1: no pushdown automaton accepts it", f"{_JOULIN}, section 5.1"),
    "anbncndn": ("a^n b^n c^n d^n, n >= 1: no pushdown automaton accepts it", f"{_JOULIN}, section 5.1"),
    "dyck-N": ("balanced brackets of N kinds", f"{_SUZGUN}, section 5"),
    "homomorphic-palindrome": ("w # phi(w reversed) over a b c, phi to x y z", f"{_SUZGUN}, section 6"),
    "homomorphic-palindrome-nonempty": (f"w # phi(w reversed) over a b c{_NONEMPTY}", f"{_SUZGUN}, section 6"),
    "palindrome": ("w c (w reversed) over a b", f"{_SUN}, section 4.3"),
    "parentheses": ("balanced parentheses", f"{_SUN}, section 4.1"),
    "simple-palindrome": ("w # (w reversed) over a b c", f"{_SUZGUN}, section 6.2"),
    "simple-palindrome-nonempty": (f"w # (w reversed) over a b c{_NONEMPTY}", f"{_SUZGUN}, section 6.2"),
}

ABOUT_TASKS: dict[str, tuple[str, str]] = {
    "addition": ("streams of binary additions, the result in reverse", f"{_JOULIN}, section 5.1"),
    "agreement": ("the verb that agrees with the subject", f"{_HAO}, section 4.5"),
    "anb2n": ("streams of a^n b^2n", f"{_JOULIN}, section 5.1"),
    "anbmcnm": ("streams of a^n b^m c^(n+m)", f"{_JOULIN}, section 5.1"),
    "anbn": ("streams of a^n b^n", f"{_JOULIN}, section 5.1"),
    "anbncn": ("streams of a^n b^n c^n", f"{_JOULIN}, section 5.1"),
    "anbncndn": ("streams of a^n b^n c^n d^n", f"{_JOULIN}, section 5.1"),
    "boolean-formula": ("the value of a formula in reverse Polish notation", f"{_HAO}, section 4.4"),
    "delayed-xor": ("the exclusive or of all symbols but the last", f"{_HAO}, section 4.2"),
    "dyck-N": ("which brackets may come next, N kinds", f"{_SUZGUN}, section 5"),
    "homomorphic-palindrome": ("what comes next in w # phi(w reversed)", f"{_SUZGUN}, section 6"),
    "homomorphic-palindrome-nonempty": (
        f"what comes next in w # phi(w reversed){_NONEMPTY}",
        f"{_SUZGUN}, section 6",
    ),
    "memorization": ("streams of w = (w reversed)", f"{_JOULIN}, section 5.1"),
    "parenthesis-prediction": ("the next bracket of two kinds", f"{_HAO}, section 4.3"),
    "reversal": ("w and then w reversed", f"{_HAO}, section 4.1"),
    "simple-palindrome": ("what comes next in w # (w reversed)", f"{_SUZGUN}, section 6.2"),
    "simple-palindrome-nonempty": (f"what comes next in w # (w reversed){_NONEMPTY}", f"{_SUZGUN}, section 6.2"),
    "string-reversal": ("w and then w reversed, every position counts", f"{_SUZGUN}, section 7"),
    "xor": ("the exclusive or of all symbols so far", f"{_HAO}, section 4.2"),
}

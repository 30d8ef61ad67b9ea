"""stacklens: a lens into stack-augmented neural networks."""

from stacklens.errors import StacklensError

__version__ = "0.1.0"
__all__ = ["StacklensError", "__version__"]

"""``python -m kansho_verify``."""

from kansho_verify.cli import main

if __name__ == "__main__":
    main()

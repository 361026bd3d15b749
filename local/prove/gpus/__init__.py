"""The parts of `prove gpu`; they run under Python 3.8 and later, with the standard library alone."""

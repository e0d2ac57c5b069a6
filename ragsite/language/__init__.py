"""English and Chinese as Ragsite tells, cuts and reads them: pure functions and word lists. Imports no app."""

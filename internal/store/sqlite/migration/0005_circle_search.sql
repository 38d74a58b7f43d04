-- The full text of circle_notes, by their seq. Its words come from the program,
-- spelt in letters no tokenizer divides (see circle_search.go); only here the two
-- databases have tables that differ.
CREATE VIRTUAL TABLE circle_search USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'ascii');

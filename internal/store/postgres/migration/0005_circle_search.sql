-- The full text of circle_notes, by their seq. Its words come from the program,
-- spelt in letters no tokenizer divides (see circle_search.go); only here the two
-- databases have tables that differ.
CREATE TABLE circle_search (
    rowid BIGINT PRIMARY KEY REFERENCES circle_notes (seq) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
);
CREATE INDEX circle_search_terms ON circle_search USING gin (terms);

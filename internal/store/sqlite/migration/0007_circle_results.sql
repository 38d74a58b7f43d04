-- circle_results is what was written back to a request: how a contract that was
-- made for it ended, once for each end. The same table as
-- postgres/migration/0007_circle_results.sql.
CREATE TABLE circle_results (
    request        TEXT NOT NULL REFERENCES circle_requests (id),
    contract       TEXT NOT NULL,
    version        INTEGER NOT NULL CHECK (version >= 1),
    state          TEXT NOT NULL CHECK (state IN ('Published', 'Revoked', 'Archived')),
    final_decision TEXT NOT NULL,
    head_commit    TEXT NOT NULL,
    note_run       TEXT NOT NULL,
    note_sha256    TEXT NOT NULL,
    at             INTEGER NOT NULL,
    PRIMARY KEY (request, contract, version, state)
) STRICT;

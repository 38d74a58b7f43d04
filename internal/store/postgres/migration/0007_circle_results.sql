-- circle_results is what was written back to a request: how a contract that was
-- made for it ended, once for each end. The same table as
-- sqlite/migration/0007_circle_results.sql.
CREATE TABLE circle_results (
    request        TEXT COLLATE "C" NOT NULL REFERENCES circle_requests (id),
    contract       TEXT COLLATE "C" NOT NULL,
    version        BIGINT NOT NULL CHECK (version >= 1),
    state          TEXT COLLATE "C" NOT NULL CHECK (state IN ('Published', 'Revoked', 'Archived')),
    final_decision TEXT COLLATE "C" NOT NULL,
    head_commit    TEXT COLLATE "C" NOT NULL,
    note_run       TEXT COLLATE "C" NOT NULL,
    note_sha256    TEXT COLLATE "C" NOT NULL,
    at             BIGINT NOT NULL,
    PRIMARY KEY (request, contract, version, state)
);

-- What was given up because its time had come. The same tables as
-- postgres/migration/0003_retention.sql.

-- seal is where the audit log begins: the head behind the records that were
-- given up, and the signed note that vouches for it. No row: at its origin.
CREATE TABLE seal (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL,
    link  BLOB NOT NULL,
    note  BLOB NOT NULL
) STRICT;

-- given_up is the place in its chain of the last event that was given up: the
-- next one counts on from there.
CREATE TABLE given_up (
    chain    TEXT PRIMARY KEY REFERENCES chains (id),
    sequence INTEGER NOT NULL
) STRICT;

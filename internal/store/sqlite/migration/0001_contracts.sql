-- Everything the contracts are about. The same tables, columns and constraints
-- as postgres/migration/0001_contracts.sql; storetest compares them.
--
-- Instants are microseconds since 1970 in UTC, an absent one is NULL. Absent
-- texts are ''. Documents are kept as the bytes that were accepted, with what
-- is searched beside them.

-- meta holds what the store must never change, like the origin of the log.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- counters are raised in the transaction that uses the number.
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- heads is one row: how far the event stream and the audit log have come.
CREATE TABLE heads (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    event_last  INTEGER NOT NULL,
    audit_count INTEGER NOT NULL,
    audit_link  BLOB NOT NULL
) STRICT;

CREATE TABLE chains (
    id          TEXT PRIMARY KEY,
    revision    INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    phase       TEXT NOT NULL,
    repository  TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    head_commit TEXT NOT NULL,
    diff_hash   TEXT NOT NULL,
    failed_runs INTEGER NOT NULL CHECK (failed_runs >= 0),
    returns     INTEGER NOT NULL CHECK (returns >= 0),
    fetched_at  INTEGER,
    details     BLOB,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX chains_updated ON chains (updated_at, id);
CREATE INDEX chains_head ON chains (head_commit) WHERE head_commit <> '';
CREATE INDEX chains_diff ON chains (diff_hash) WHERE diff_hash <> '';

CREATE TABLE contracts (
    id              TEXT NOT NULL,
    version         INTEGER NOT NULL CHECK (version >= 1),
    kind            TEXT NOT NULL CHECK (kind IN ('IntentContract', 'TaskSeed', 'Acceptance', 'PublishGate', 'Evidence')),
    state           TEXT NOT NULL CHECK (state IN ('Draft', 'Active', 'Frozen', 'Published', 'Superseded', 'Revoked', 'Archived')),
    revision        INTEGER NOT NULL,
    head            INTEGER NOT NULL, -- whether the id resolves to this version
    chain           TEXT NOT NULL REFERENCES chains (id),
    source_id       TEXT NOT NULL,
    source_version  INTEGER NOT NULL,
    frozen_from     TEXT NOT NULL,
    freeze_cause    TEXT NOT NULL,
    execution_id    TEXT NOT NULL,
    approval_digest TEXT NOT NULL,
    covers          BLOB,
    base_commit     TEXT NOT NULL,
    head_commit     TEXT NOT NULL,
    signals         BLOB,
    task_seed       TEXT NOT NULL,
    status          TEXT NOT NULL,
    level           TEXT NOT NULL,
    final_decision  TEXT NOT NULL,
    creator         TEXT NOT NULL,
    owner_role      TEXT NOT NULL,
    actor           TEXT NOT NULL,
    verdict         TEXT NOT NULL,
    classification  TEXT NOT NULL,
    waiting_for     TEXT NOT NULL, -- ',role,role,' of a pending gate
    deadline        INTEGER,
    document        BLOB NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (id, version),
    CHECK ((state = 'Frozen') = (freeze_cause <> ''))
) STRICT;
-- At most one version of an id is under way.
CREATE UNIQUE INDEX contracts_live ON contracts (id) WHERE state IN ('Active', 'Frozen');
CREATE INDEX contracts_chain ON contracts (chain);
CREATE INDEX contracts_source ON contracts (source_id, source_version) WHERE source_id <> '';
CREATE INDEX contracts_updated ON contracts (kind, updated_at, id) WHERE head;
CREATE INDEX contracts_pending ON contracts (deadline) WHERE final_decision = 'pending';

-- contract_versions is the contents that were replaced in place.
CREATE TABLE contract_versions (
    id          TEXT NOT NULL,
    version     INTEGER NOT NULL,
    document    BLOB NOT NULL,
    replaced_at INTEGER NOT NULL,
    PRIMARY KEY (id, version)
) STRICT;

CREATE TABLE votes (
    contract      TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    role          TEXT NOT NULL,
    actor         TEXT NOT NULL,
    decision      TEXT NOT NULL CHECK (decision IN ('approved', 'rejected')),
    decided_at    TEXT NOT NULL,
    reason        BLOB,
    self_approved INTEGER NOT NULL,
    PRIMARY KEY (contract, seq),
    UNIQUE (contract, version, role, actor, decision)
) STRICT;

CREATE TABLE consents (
    gate          TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    role          TEXT NOT NULL,
    actor         TEXT NOT NULL,
    decision      TEXT NOT NULL CHECK (decision IN ('approved', 'rejected')),
    decided_at    TEXT NOT NULL,
    reason        BLOB,
    digest        TEXT NOT NULL,
    base_commit   TEXT NOT NULL,
    head_commit   TEXT NOT NULL,
    self_approved INTEGER NOT NULL,
    PRIMARY KEY (gate, seq),
    UNIQUE (gate, version, role, actor, decision)
) STRICT;

CREATE TABLE runs (
    execution_id TEXT PRIMARY KEY,
    revision     INTEGER NOT NULL,
    chain        TEXT NOT NULL REFERENCES chains (id),
    task_seed    TEXT NOT NULL,
    task_version INTEGER NOT NULL,
    phase        TEXT NOT NULL,
    role         TEXT NOT NULL,
    actor        TEXT NOT NULL,
    series       INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    lock_token   INTEGER NOT NULL,
    base_commit  TEXT NOT NULL,
    head_commit  TEXT NOT NULL,
    diff_hash    TEXT NOT NULL,
    started_at   INTEGER NOT NULL,
    deadline     INTEGER,
    ended_at     INTEGER,
    outcome      TEXT NOT NULL,
    evidence     TEXT NOT NULL,
    details      BLOB,
    CHECK ((ended_at IS NULL) = (outcome = ''))
) STRICT;
-- A chain has at most one run alive.
CREATE UNIQUE INDEX runs_alive ON runs (chain) WHERE ended_at IS NULL;
CREATE INDEX runs_chain ON runs (chain, started_at);
CREATE INDEX runs_started ON runs (started_at, execution_id);

CREATE TABLE phase_artifacts (
    execution_id TEXT NOT NULL,
    kind         TEXT NOT NULL,
    chain        TEXT NOT NULL REFERENCES chains (id),
    task_seed    TEXT NOT NULL,
    task_version INTEGER NOT NULL,
    phase        TEXT NOT NULL,
    sha256       TEXT NOT NULL,
    size         INTEGER NOT NULL,
    media_type   TEXT NOT NULL,
    at           INTEGER NOT NULL,
    bytes        BLOB NOT NULL,
    PRIMARY KEY (execution_id, kind)
) STRICT;
CREATE INDEX phase_artifacts_chain ON phase_artifacts (chain);

CREATE TABLE reviews (
    chain        TEXT NOT NULL REFERENCES chains (id),
    seq          INTEGER NOT NULL,
    task_seed    TEXT NOT NULL,
    task_version INTEGER NOT NULL,
    reviewer     TEXT NOT NULL,
    role         TEXT NOT NULL,
    verdict      TEXT NOT NULL,
    head_commit  TEXT NOT NULL,
    diff_hash    TEXT NOT NULL,
    document     BLOB NOT NULL,
    at           INTEGER NOT NULL,
    PRIMARY KEY (chain, seq)
) STRICT;
CREATE INDEX reviews_task ON reviews (task_seed, task_version);

-- locks keeps the row of a key for ever: its token only grows.
CREATE TABLE locks (
    key          TEXT PRIMARY KEY,
    token        INTEGER NOT NULL CHECK (token >= 0),
    holder       TEXT NOT NULL,
    actor        TEXT NOT NULL,
    acquired_at  INTEGER,
    heartbeat_at INTEGER
) STRICT;
CREATE INDEX locks_holder ON locks (holder) WHERE holder <> '';

CREATE TABLE lock_holds (
    holder TEXT NOT NULL,
    key    TEXT NOT NULL,
    token  INTEGER NOT NULL,
    actor  TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (holder, key)
) STRICT, WITHOUT ROWID;

-- effects is the idempotency keys of jobs and generations.
CREATE TABLE effects (
    key            TEXT PRIMARY KEY,
    result_id      TEXT NOT NULL,
    result_version INTEGER NOT NULL,
    detail         BLOB,
    at             INTEGER NOT NULL
) STRICT;

-- requests is the idempotency keys of writes from outside.
CREATE TABLE requests (
    actor       TEXT NOT NULL,
    key         TEXT NOT NULL,
    method      TEXT NOT NULL,
    path        TEXT NOT NULL,
    role        TEXT NOT NULL,
    body_digest TEXT NOT NULL,
    status      INTEGER NOT NULL,
    media_type  TEXT NOT NULL,
    headers     BLOB,
    answer      BLOB,
    at          INTEGER NOT NULL,
    PRIMARY KEY (actor, key)
) STRICT;
CREATE INDEX requests_at ON requests (at);

-- events is the outbox and the stream. seq is the order of writing, with gaps;
-- position is the place in the stream, without, and NULL until it is given.
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    position    INTEGER UNIQUE,
    id          TEXT NOT NULL UNIQUE,
    type        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    subject     TEXT NOT NULL,
    version     INTEGER NOT NULL,
    chain       TEXT NOT NULL REFERENCES chains (id),
    sequence    INTEGER NOT NULL,
    cause       TEXT NOT NULL,
    at          TEXT NOT NULL,
    data_schema TEXT NOT NULL,
    data        BLOB NOT NULL,
    UNIQUE (chain, sequence)
) STRICT;
CREATE INDEX events_unplaced ON events (seq) WHERE position IS NULL;

-- audit is the log: each line with the link that chains it to all before. seq
-- and position are as those of events; the link comes with the position.
CREATE TABLE audit (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    position       INTEGER UNIQUE,
    line           BLOB NOT NULL,
    link           BLOB,
    at             INTEGER NOT NULL,
    contract       TEXT NOT NULL,
    task_seed      TEXT NOT NULL,
    actor          TEXT NOT NULL,
    role           TEXT NOT NULL,
    action         TEXT NOT NULL,
    level          TEXT NOT NULL,
    final_decision TEXT NOT NULL
) STRICT;
CREATE INDEX audit_unplaced ON audit (seq) WHERE position IS NULL;
CREATE INDEX audit_contract ON audit (contract, position);
CREATE INDEX audit_actor ON audit (actor, position);
CREATE INDEX audit_at ON audit (at, position);

CREATE TABLE actors (
    id         TEXT PRIMARY KEY,
    revision   INTEGER NOT NULL,
    type       TEXT NOT NULL CHECK (type IN ('human', 'agent', 'system')),
    roles      TEXT NOT NULL, -- ',role,role,'
    name       TEXT NOT NULL,
    active     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,
    actor      TEXT NOT NULL REFERENCES actors (id),
    hash       BLOB NOT NULL UNIQUE,
    scopes     TEXT NOT NULL, -- ',scope,scope,'
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_actor ON tokens (actor);

CREATE TABLE webhooks (
    id               TEXT PRIMARY KEY,
    revision         INTEGER NOT NULL,
    url              TEXT NOT NULL,
    secret           BLOB NOT NULL,
    old_secret       BLOB,
    old_secret_until INTEGER,
    types            TEXT NOT NULL, -- ',type,type,'
    subjects         TEXT NOT NULL, -- ',id,id,'
    enabled          INTEGER NOT NULL,
    cursor           INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;

CREATE TABLE deliveries (
    webhook      TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL,
    event_id     TEXT NOT NULL,
    chain        TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('pending', 'delivered')),
    attempts     INTEGER NOT NULL,
    next_at      INTEGER,
    last_status  INTEGER NOT NULL,
    last_error   TEXT NOT NULL,
    delivered_at INTEGER,
    PRIMARY KEY (webhook, position),
    CHECK ((status = 'pending') = (next_at IS NOT NULL))
) STRICT;
CREATE INDEX deliveries_pending ON deliveries (webhook, chain, position) WHERE status = 'pending';

-- nodes is the leases of the processes that work on this store.
CREATE TABLE nodes (
    id         TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT;

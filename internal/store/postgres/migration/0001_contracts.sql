-- Everything the contracts are about. The same tables, columns and constraints
-- as sqlite/migration/0001_contracts.sql; storetest compares them.
--
-- Instants are microseconds since 1970 in UTC, an absent one is NULL. Absent
-- texts are ''. Documents are kept as the bytes that were accepted, with what
-- is searched beside them.

-- meta holds what the store must never change, like the origin of the log.
CREATE TABLE meta (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);

-- counters are raised in the transaction that uses the number.
CREATE TABLE counters (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BIGINT NOT NULL
);

-- heads is one row: how far the event stream and the audit log have come.
CREATE TABLE heads (
    one         BIGINT PRIMARY KEY CHECK (one = 1),
    event_last  BIGINT NOT NULL,
    audit_count BIGINT NOT NULL,
    audit_link  BYTEA NOT NULL
);

CREATE TABLE chains (
    id          TEXT COLLATE "C" PRIMARY KEY,
    revision    BIGINT NOT NULL,
    version     BIGINT NOT NULL,
    phase       TEXT COLLATE "C" NOT NULL,
    repository  TEXT COLLATE "C" NOT NULL,
    base_commit TEXT COLLATE "C" NOT NULL,
    head_commit TEXT COLLATE "C" NOT NULL,
    diff_hash   TEXT COLLATE "C" NOT NULL,
    failed_runs BIGINT NOT NULL CHECK (failed_runs >= 0),
    returns     BIGINT NOT NULL CHECK (returns >= 0),
    fetched_at  BIGINT,
    details     BYTEA,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX chains_updated ON chains (updated_at, id);
CREATE INDEX chains_head ON chains (head_commit) WHERE head_commit <> '';
CREATE INDEX chains_diff ON chains (diff_hash) WHERE diff_hash <> '';

CREATE TABLE contracts (
    id              TEXT COLLATE "C" NOT NULL,
    version         BIGINT NOT NULL CHECK (version >= 1),
    kind            TEXT COLLATE "C" NOT NULL CHECK (kind IN ('IntentContract', 'TaskSeed', 'Acceptance', 'PublishGate', 'Evidence')),
    state           TEXT COLLATE "C" NOT NULL CHECK (state IN ('Draft', 'Active', 'Frozen', 'Published', 'Superseded', 'Revoked', 'Archived')),
    revision        BIGINT NOT NULL,
    head            BOOLEAN NOT NULL, -- whether the id resolves to this version
    chain           TEXT COLLATE "C" NOT NULL REFERENCES chains (id),
    source_id       TEXT COLLATE "C" NOT NULL,
    source_version  BIGINT NOT NULL,
    frozen_from     TEXT COLLATE "C" NOT NULL,
    freeze_cause    TEXT COLLATE "C" NOT NULL,
    execution_id    TEXT COLLATE "C" NOT NULL,
    approval_digest TEXT COLLATE "C" NOT NULL,
    covers          BYTEA,
    base_commit     TEXT COLLATE "C" NOT NULL,
    head_commit     TEXT COLLATE "C" NOT NULL,
    signals         BYTEA,
    task_seed       TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL,
    level           TEXT COLLATE "C" NOT NULL,
    final_decision  TEXT COLLATE "C" NOT NULL,
    creator         TEXT COLLATE "C" NOT NULL,
    owner_role      TEXT COLLATE "C" NOT NULL,
    actor           TEXT COLLATE "C" NOT NULL,
    verdict         TEXT COLLATE "C" NOT NULL,
    classification  TEXT COLLATE "C" NOT NULL,
    waiting_for     TEXT COLLATE "C" NOT NULL, -- ',role,role,' of a pending gate
    deadline        BIGINT,
    document        BYTEA NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    PRIMARY KEY (id, version),
    CHECK ((state = 'Frozen') = (freeze_cause <> ''))
);
-- At most one version of an id is under way.
CREATE UNIQUE INDEX contracts_live ON contracts (id) WHERE state IN ('Active', 'Frozen');
CREATE INDEX contracts_chain ON contracts (chain);
CREATE INDEX contracts_source ON contracts (source_id, source_version) WHERE source_id <> '';
CREATE INDEX contracts_updated ON contracts (kind, updated_at, id) WHERE head;
CREATE INDEX contracts_pending ON contracts (deadline) WHERE final_decision = 'pending';

-- contract_versions is the contents that were replaced in place.
CREATE TABLE contract_versions (
    id          TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    document    BYTEA NOT NULL,
    replaced_at BIGINT NOT NULL,
    PRIMARY KEY (id, version)
);

CREATE TABLE votes (
    contract      TEXT COLLATE "C" NOT NULL,
    seq           BIGINT NOT NULL,
    version       BIGINT NOT NULL,
    role          TEXT COLLATE "C" NOT NULL,
    actor         TEXT COLLATE "C" NOT NULL,
    decision      TEXT COLLATE "C" NOT NULL CHECK (decision IN ('approved', 'rejected')),
    decided_at    TEXT COLLATE "C" NOT NULL,
    reason        BYTEA,
    self_approved BOOLEAN NOT NULL,
    PRIMARY KEY (contract, seq),
    UNIQUE (contract, version, role, actor, decision)
);

CREATE TABLE consents (
    gate          TEXT COLLATE "C" NOT NULL,
    seq           BIGINT NOT NULL,
    version       BIGINT NOT NULL,
    role          TEXT COLLATE "C" NOT NULL,
    actor         TEXT COLLATE "C" NOT NULL,
    decision      TEXT COLLATE "C" NOT NULL CHECK (decision IN ('approved', 'rejected')),
    decided_at    TEXT COLLATE "C" NOT NULL,
    reason        BYTEA,
    digest        TEXT COLLATE "C" NOT NULL,
    base_commit   TEXT COLLATE "C" NOT NULL,
    head_commit   TEXT COLLATE "C" NOT NULL,
    self_approved BOOLEAN NOT NULL,
    PRIMARY KEY (gate, seq),
    UNIQUE (gate, version, role, actor, decision)
);

CREATE TABLE runs (
    execution_id TEXT COLLATE "C" PRIMARY KEY,
    revision     BIGINT NOT NULL,
    chain        TEXT COLLATE "C" NOT NULL REFERENCES chains (id),
    task_seed    TEXT COLLATE "C" NOT NULL,
    task_version BIGINT NOT NULL,
    phase        TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL,
    actor        TEXT COLLATE "C" NOT NULL,
    series       BIGINT NOT NULL,
    attempt      BIGINT NOT NULL,
    lock_token   BIGINT NOT NULL,
    base_commit  TEXT COLLATE "C" NOT NULL,
    head_commit  TEXT COLLATE "C" NOT NULL,
    diff_hash    TEXT COLLATE "C" NOT NULL,
    started_at   BIGINT NOT NULL,
    deadline     BIGINT,
    ended_at     BIGINT,
    outcome      TEXT COLLATE "C" NOT NULL,
    evidence     TEXT COLLATE "C" NOT NULL,
    details      BYTEA,
    CHECK ((ended_at IS NULL) = (outcome = ''))
);
-- A chain has at most one run alive.
CREATE UNIQUE INDEX runs_alive ON runs (chain) WHERE ended_at IS NULL;
CREATE INDEX runs_chain ON runs (chain, started_at);
CREATE INDEX runs_started ON runs (started_at, execution_id);

CREATE TABLE phase_artifacts (
    execution_id TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    chain        TEXT COLLATE "C" NOT NULL REFERENCES chains (id),
    task_seed    TEXT COLLATE "C" NOT NULL,
    task_version BIGINT NOT NULL,
    phase        TEXT COLLATE "C" NOT NULL,
    sha256       TEXT COLLATE "C" NOT NULL,
    size         BIGINT NOT NULL,
    media_type   TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL,
    bytes        BYTEA NOT NULL,
    PRIMARY KEY (execution_id, kind)
);
CREATE INDEX phase_artifacts_chain ON phase_artifacts (chain);

CREATE TABLE reviews (
    chain        TEXT COLLATE "C" NOT NULL REFERENCES chains (id),
    seq          BIGINT NOT NULL,
    task_seed    TEXT COLLATE "C" NOT NULL,
    task_version BIGINT NOT NULL,
    reviewer     TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL,
    verdict      TEXT COLLATE "C" NOT NULL,
    head_commit  TEXT COLLATE "C" NOT NULL,
    diff_hash    TEXT COLLATE "C" NOT NULL,
    document     BYTEA NOT NULL,
    at           BIGINT NOT NULL,
    PRIMARY KEY (chain, seq)
);
CREATE INDEX reviews_task ON reviews (task_seed, task_version);

-- locks keeps the row of a key for ever: its token only grows.
CREATE TABLE locks (
    key          TEXT COLLATE "C" PRIMARY KEY,
    token        BIGINT NOT NULL CHECK (token >= 0),
    holder       TEXT COLLATE "C" NOT NULL,
    actor        TEXT COLLATE "C" NOT NULL,
    acquired_at  BIGINT,
    heartbeat_at BIGINT
);
CREATE INDEX locks_holder ON locks (holder) WHERE holder <> '';

CREATE TABLE lock_holds (
    holder TEXT COLLATE "C" NOT NULL,
    key    TEXT COLLATE "C" NOT NULL,
    token  BIGINT NOT NULL,
    actor  TEXT COLLATE "C" NOT NULL,
    at     BIGINT NOT NULL,
    PRIMARY KEY (holder, key)
);

-- effects is the idempotency keys of jobs and generations.
CREATE TABLE effects (
    key            TEXT COLLATE "C" PRIMARY KEY,
    result_id      TEXT COLLATE "C" NOT NULL,
    result_version BIGINT NOT NULL,
    detail         BYTEA,
    at             BIGINT NOT NULL
);

-- requests is the idempotency keys of writes from outside.
CREATE TABLE requests (
    actor       TEXT COLLATE "C" NOT NULL,
    key         TEXT COLLATE "C" NOT NULL,
    method      TEXT COLLATE "C" NOT NULL,
    path        TEXT COLLATE "C" NOT NULL,
    role        TEXT COLLATE "C" NOT NULL,
    body_digest TEXT COLLATE "C" NOT NULL,
    status      BIGINT NOT NULL,
    media_type  TEXT COLLATE "C" NOT NULL,
    headers     BYTEA,
    answer      BYTEA,
    at          BIGINT NOT NULL,
    PRIMARY KEY (actor, key)
);
CREATE INDEX requests_at ON requests (at);

-- events is the outbox and the stream. seq is the order of writing, with gaps;
-- position is the place in the stream, without, and NULL until it is given.
CREATE TABLE events (
    seq         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    position    BIGINT UNIQUE,
    id          TEXT COLLATE "C" NOT NULL UNIQUE,
    type        TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    chain       TEXT COLLATE "C" NOT NULL REFERENCES chains (id),
    sequence    BIGINT NOT NULL,
    cause       TEXT COLLATE "C" NOT NULL,
    at          TEXT COLLATE "C" NOT NULL,
    data_schema TEXT COLLATE "C" NOT NULL,
    data        BYTEA NOT NULL,
    UNIQUE (chain, sequence)
);
CREATE INDEX events_unplaced ON events (seq) WHERE position IS NULL;

-- audit is the log: each line with the link that chains it to all before. seq
-- and position are as those of events; the link comes with the position.
CREATE TABLE audit (
    seq            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    position       BIGINT UNIQUE,
    line           BYTEA NOT NULL,
    link           BYTEA,
    at             BIGINT NOT NULL,
    contract       TEXT COLLATE "C" NOT NULL,
    task_seed      TEXT COLLATE "C" NOT NULL,
    actor          TEXT COLLATE "C" NOT NULL,
    role           TEXT COLLATE "C" NOT NULL,
    action         TEXT COLLATE "C" NOT NULL,
    level          TEXT COLLATE "C" NOT NULL,
    final_decision TEXT COLLATE "C" NOT NULL
);
CREATE INDEX audit_unplaced ON audit (seq) WHERE position IS NULL;
CREATE INDEX audit_contract ON audit (contract, position);
CREATE INDEX audit_actor ON audit (actor, position);
CREATE INDEX audit_at ON audit (at, position);

CREATE TABLE actors (
    id         TEXT COLLATE "C" PRIMARY KEY,
    revision   BIGINT NOT NULL,
    type       TEXT COLLATE "C" NOT NULL CHECK (type IN ('human', 'agent', 'system')),
    roles      TEXT COLLATE "C" NOT NULL, -- ',role,role,'
    name       TEXT COLLATE "C" NOT NULL,
    active     BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE tokens (
    id         TEXT COLLATE "C" PRIMARY KEY,
    actor      TEXT COLLATE "C" NOT NULL REFERENCES actors (id),
    hash       BYTEA NOT NULL UNIQUE,
    scopes     TEXT COLLATE "C" NOT NULL, -- ',scope,scope,'
    name       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX tokens_actor ON tokens (actor);

CREATE TABLE webhooks (
    id               TEXT COLLATE "C" PRIMARY KEY,
    revision         BIGINT NOT NULL,
    url              TEXT COLLATE "C" NOT NULL,
    secret           BYTEA NOT NULL,
    old_secret       BYTEA,
    old_secret_until BIGINT,
    types            TEXT COLLATE "C" NOT NULL, -- ',type,type,'
    subjects         TEXT COLLATE "C" NOT NULL, -- ',id,id,'
    enabled          BOOLEAN NOT NULL,
    cursor           BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);

CREATE TABLE deliveries (
    webhook      TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    position     BIGINT NOT NULL,
    event_id     TEXT COLLATE "C" NOT NULL,
    chain        TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'delivered')),
    attempts     BIGINT NOT NULL,
    next_at      BIGINT,
    last_status  BIGINT NOT NULL,
    last_error   TEXT COLLATE "C" NOT NULL,
    delivered_at BIGINT,
    PRIMARY KEY (webhook, position),
    CHECK ((status = 'pending') = (next_at IS NOT NULL))
);
CREATE INDEX deliveries_pending ON deliveries (webhook, chain, position) WHERE status = 'pending';

-- nodes is the leases of the processes that work on this store.
CREATE TABLE nodes (
    id         TEXT COLLATE "C" PRIMARY KEY,
    started_at BIGINT NOT NULL,
    beat_at    BIGINT NOT NULL
);

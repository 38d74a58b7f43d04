-- Everything the circle is about. The same tables, columns and constraints as
-- postgres/migration/0004_circle.sql; storetest compares them. The conventions
-- are those of 0001_contracts.sql; lists are ',word,word,' or JSON.

CREATE TABLE circles (
    id                 TEXT PRIMARY KEY,
    revision           INTEGER NOT NULL,
    name               TEXT NOT NULL CHECK (name <> ''),
    clan               TEXT NOT NULL,
    quorum_numerator   INTEGER,
    quorum_denominator INTEGER,
    created_at         INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL,
    CHECK ((quorum_numerator IS NULL) = (quorum_denominator IS NULL)),
    CHECK (2 * quorum_numerator > quorum_denominator AND quorum_numerator <= quorum_denominator)
) STRICT;
CREATE INDEX circles_updated ON circles (updated_at, id);
CREATE INDEX circles_clan ON circles (clan) WHERE clan <> '';

-- circle_members is every time of membership: who was what, when.
CREATE TABLE circle_members (
    circle      TEXT NOT NULL REFERENCES circles (id),
    actor       TEXT NOT NULL REFERENCES actors (id),
    spell       INTEGER NOT NULL CHECK (spell >= 1),
    roles       TEXT NOT NULL, -- ',role,role,'
    since       INTEGER NOT NULL,
    until       INTEGER,
    admitted_by TEXT NOT NULL,
    PRIMARY KEY (circle, actor, spell),
    CHECK (until >= since)
) STRICT;
CREATE UNIQUE INDEX circle_members_now ON circle_members (circle, actor) WHERE until IS NULL;
CREATE INDEX circle_members_actor ON circle_members (actor) WHERE until IS NULL;

CREATE TABLE circle_channels (
    id           TEXT PRIMARY KEY,
    revision     INTEGER NOT NULL,
    circle       TEXT NOT NULL REFERENCES circles (id),
    kind         TEXT NOT NULL CHECK (kind IN ('internal', 'external')),
    name         TEXT NOT NULL,
    member       TEXT NOT NULL, -- '' for an external channel
    adapter      TEXT NOT NULL, -- '' for an internal one
    suspended_at INTEGER,
    lifted_at    INTEGER,
    lifted_by    TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    UNIQUE (circle, kind, name, member),
    CHECK ((kind = 'internal') = (member <> '')),
    CHECK ((lifted_at IS NULL) = (lifted_by = ''))
) STRICT;
CREATE INDEX circle_channels_updated ON circle_channels (updated_at, id);

CREATE TABLE circle_breaches (
    channel TEXT NOT NULL REFERENCES circle_channels (id),
    request TEXT NOT NULL,
    member  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (channel, request)
) STRICT;
CREATE INDEX circle_breaches_at ON circle_breaches (channel, at);

-- circle_requests: no package is ever 'confirmed'.
CREATE TABLE circle_requests (
    id         TEXT PRIMARY KEY,
    revision   INTEGER NOT NULL,
    circle     TEXT NOT NULL REFERENCES circles (id),
    member     TEXT NOT NULL,
    channel    TEXT NOT NULL REFERENCES circle_channels (id),
    origin     TEXT NOT NULL CHECK (origin IN ('internal', 'external')),
    target     TEXT NOT NULL CHECK (target IN ('private', 'circle', 'clan', 'public')),
    sha256     TEXT NOT NULL,
    envelope   BLOB NOT NULL,
    config     TEXT NOT NULL,
    triage     BLOB,
    plan       BLOB,
    state      TEXT NOT NULL CHECK (state IN ('running', 'ended')),
    status     TEXT NOT NULL CHECK (status IN ('', 'draft', 'needs_confirmation', 'waiting_for_consent')),
    stops      TEXT NOT NULL, -- ',condition,condition,'
    package    BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at   INTEGER,
    CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
    CHECK ((state = 'ended') = (status <> '')),
    CHECK ((state = 'ended') = (package IS NOT NULL))
) STRICT;
CREATE INDEX circle_requests_updated ON circle_requests (updated_at, id);
CREATE INDEX circle_requests_circle ON circle_requests (circle, updated_at, id);
CREATE INDEX circle_requests_running ON circle_requests (updated_at) WHERE state = 'running';

-- circle_runs: no worker runs without a prompt that is on record.
CREATE TABLE circle_runs (
    id                      TEXT PRIMARY KEY,
    revision                INTEGER NOT NULL,
    request                 TEXT NOT NULL REFERENCES circle_requests (id),
    step                    INTEGER NOT NULL CHECK (step >= 1),
    attempt                 INTEGER NOT NULL CHECK (attempt >= 1),
    worker                  TEXT NOT NULL,
    engine                  TEXT NOT NULL CHECK (engine IN ('builtin', 'model')),
    model                   TEXT NOT NULL,
    constitution_version    TEXT NOT NULL CHECK (constitution_version <> ''),
    subagent_prompt_version TEXT NOT NULL CHECK (subagent_prompt_version <> ''),
    prompt_sha256           TEXT NOT NULL CHECK (prompt_sha256 <> ''),
    origin                  TEXT NOT NULL CHECK (origin IN ('internal', 'external')),
    state                   TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    fault                   TEXT NOT NULL,
    artifacts               TEXT NOT NULL, -- ',id,id,'
    started_at              INTEGER NOT NULL,
    deadline                INTEGER NOT NULL,
    ended_at                INTEGER,
    UNIQUE (request, step, attempt),
    CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;

-- circle_artifacts: what is confirmed names who did it.
CREATE TABLE circle_artifacts (
    id             TEXT NOT NULL,
    version        INTEGER NOT NULL CHECK (version >= 1),
    revision       INTEGER NOT NULL,
    head           INTEGER NOT NULL, -- whether it is the newest version
    circle         TEXT NOT NULL REFERENCES circles (id),
    request        TEXT NOT NULL REFERENCES circle_requests (id),
    owner          TEXT NOT NULL,
    type           TEXT NOT NULL,
    visibility     TEXT NOT NULL CHECK (visibility IN ('private', 'circle', 'clan', 'public')),
    status         TEXT NOT NULL CHECK (status IN ('draft', 'needs_confirmation', 'waiting_for_consent', 'confirmed')),
    reason         TEXT NOT NULL,
    content        BLOB NOT NULL,
    content_sha256 TEXT NOT NULL,
    origin         TEXT NOT NULL CHECK (origin IN ('internal', 'external')),
    provenance     BLOB NOT NULL, -- JSON
    flags          TEXT NOT NULL, -- ',flag,flag,'
    concerns       BLOB NOT NULL, -- JSON
    scope          BLOB NOT NULL, -- JSON
    consent_by     INTEGER,
    waits_for      TEXT NOT NULL,
    blocks         TEXT NOT NULL, -- ',condition,condition,'
    confirmed_by   TEXT NOT NULL,
    confirmed_at   INTEGER,
    contract       TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    PRIMARY KEY (id, version),
    CHECK ((status = 'confirmed') = (confirmed_by <> '')),
    CHECK ((status = 'confirmed') = (confirmed_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX circle_artifacts_head ON circle_artifacts (id) WHERE head;
CREATE INDEX circle_artifacts_request ON circle_artifacts (request, created_at);
CREATE INDEX circle_artifacts_circle ON circle_artifacts (circle, updated_at, id);
CREATE INDEX circle_artifacts_waiting ON circle_artifacts (consent_by) WHERE status = 'waiting_for_consent' AND head;

CREATE TABLE circle_consents (
    id             TEXT PRIMARY KEY,
    seq            INTEGER NOT NULL, -- the place in the artifact's ledger
    revision       INTEGER NOT NULL,
    circle         TEXT NOT NULL REFERENCES circles (id),
    member         TEXT NOT NULL REFERENCES actors (id),
    request        TEXT NOT NULL REFERENCES circle_requests (id),
    artifact       TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    action         TEXT NOT NULL,
    visibility     TEXT NOT NULL CHECK (visibility IN ('private', 'circle', 'clan', 'public')),
    recipients     BLOB NOT NULL, -- JSON
    decision       TEXT NOT NULL CHECK (decision IN ('granted', 'refused', 'revoked')),
    decided_at     INTEGER NOT NULL,
    expires_at     INTEGER,
    revoked_at     INTEGER,
    step_up        TEXT NOT NULL,
    UNIQUE (artifact, seq),
    CHECK ((decision = 'revoked') = (revoked_at IS NOT NULL)),
    CHECK (expires_at > decided_at)
) STRICT;
CREATE INDEX circle_consents_decided ON circle_consents (circle, decided_at, id);
CREATE INDEX circle_consents_member ON circle_consents (member, decided_at, id);

-- circle_notes is what can be found; seq is what the full text knows it by.
CREATE TABLE circle_notes (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('memory', 'artifact', 'document')),
    circle     TEXT NOT NULL REFERENCES circles (id),
    owner      TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('private', 'circle', 'clan', 'public')),
    origin     TEXT NOT NULL CHECK (origin IN ('internal', 'external')),
    source     TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    title      BLOB NOT NULL,
    text       BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;

CREATE TABLE identity_factors (
    id           TEXT PRIMARY KEY,
    revision     INTEGER NOT NULL,
    actor        TEXT NOT NULL REFERENCES actors (id),
    kind         TEXT NOT NULL CHECK (kind IN ('totp', 'webauthn')),
    name         TEXT NOT NULL,
    material     BLOB NOT NULL,
    counter      INTEGER NOT NULL CHECK (counter >= 0),
    created_at   INTEGER NOT NULL,
    confirmed_at INTEGER,
    revoked_at   INTEGER
) STRICT;
CREATE INDEX identity_factors_actor ON identity_factors (actor, created_at);

CREATE TABLE identity_challenges (
    id          TEXT PRIMARY KEY,
    revision    INTEGER NOT NULL,
    actor       TEXT NOT NULL REFERENCES actors (id),
    circle      TEXT NOT NULL,
    request     TEXT NOT NULL,
    action      TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('totp', 'webauthn')),
    material    BLOB NOT NULL,
    attempts    INTEGER NOT NULL CHECK (attempts >= 0),
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    answered_at INTEGER,
    factor      TEXT NOT NULL,
    CHECK ((answered_at IS NULL) = (factor = ''))
) STRICT;

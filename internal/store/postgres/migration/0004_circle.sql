-- Everything the circle is about. The same tables, columns and constraints as
-- sqlite/migration/0004_circle.sql; storetest compares them. The conventions
-- are those of 0001_contracts.sql; lists are ',word,word,' or JSON.

CREATE TABLE circles (
    id                 TEXT COLLATE "C" PRIMARY KEY,
    revision           BIGINT NOT NULL,
    name               TEXT COLLATE "C" NOT NULL CHECK (name <> ''),
    clan               TEXT COLLATE "C" NOT NULL,
    quorum_numerator   BIGINT,
    quorum_denominator BIGINT,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    CHECK ((quorum_numerator IS NULL) = (quorum_denominator IS NULL)),
    CHECK (2 * quorum_numerator > quorum_denominator AND quorum_numerator <= quorum_denominator)
);
CREATE INDEX circles_updated ON circles (updated_at, id);
CREATE INDEX circles_clan ON circles (clan) WHERE clan <> '';

-- circle_members is every time of membership: who was what, when.
CREATE TABLE circle_members (
    circle      TEXT COLLATE "C" NOT NULL REFERENCES circles (id),
    actor       TEXT COLLATE "C" NOT NULL REFERENCES actors (id),
    spell       BIGINT NOT NULL CHECK (spell >= 1),
    roles       TEXT COLLATE "C" NOT NULL, -- ',role,role,'
    since       BIGINT NOT NULL,
    until       BIGINT,
    admitted_by TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (circle, actor, spell),
    CHECK (until >= since)
);
CREATE UNIQUE INDEX circle_members_now ON circle_members (circle, actor) WHERE until IS NULL;
CREATE INDEX circle_members_actor ON circle_members (actor) WHERE until IS NULL;

CREATE TABLE circle_channels (
    id           TEXT COLLATE "C" PRIMARY KEY,
    revision     BIGINT NOT NULL,
    circle       TEXT COLLATE "C" NOT NULL REFERENCES circles (id),
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('internal', 'external')),
    name         TEXT COLLATE "C" NOT NULL,
    member       TEXT COLLATE "C" NOT NULL, -- '' for an external channel
    adapter      TEXT COLLATE "C" NOT NULL, -- '' for an internal one
    suspended_at BIGINT,
    lifted_at    BIGINT,
    lifted_by    TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    UNIQUE (circle, kind, name, member),
    CHECK ((kind = 'internal') = (member <> '')),
    CHECK ((lifted_at IS NULL) = (lifted_by = ''))
);
CREATE INDEX circle_channels_updated ON circle_channels (updated_at, id);

CREATE TABLE circle_breaches (
    channel TEXT COLLATE "C" NOT NULL REFERENCES circle_channels (id),
    request TEXT COLLATE "C" NOT NULL,
    member  TEXT COLLATE "C" NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (channel, request)
);
CREATE INDEX circle_breaches_at ON circle_breaches (channel, at);

-- circle_requests: no package is ever 'confirmed'.
CREATE TABLE circle_requests (
    id         TEXT COLLATE "C" PRIMARY KEY,
    revision   BIGINT NOT NULL,
    circle     TEXT COLLATE "C" NOT NULL REFERENCES circles (id),
    member     TEXT COLLATE "C" NOT NULL,
    channel    TEXT COLLATE "C" NOT NULL REFERENCES circle_channels (id),
    origin     TEXT COLLATE "C" NOT NULL CHECK (origin IN ('internal', 'external')),
    target     TEXT COLLATE "C" NOT NULL CHECK (target IN ('private', 'circle', 'clan', 'public')),
    sha256     TEXT COLLATE "C" NOT NULL,
    envelope   BYTEA NOT NULL,
    config     TEXT COLLATE "C" NOT NULL,
    triage     BYTEA,
    plan       BYTEA,
    state      TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'ended')),
    status     TEXT COLLATE "C" NOT NULL CHECK (status IN ('', 'draft', 'needs_confirmation', 'waiting_for_consent')),
    stops      TEXT COLLATE "C" NOT NULL, -- ',condition,condition,'
    package    BYTEA,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at   BIGINT,
    CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
    CHECK ((state = 'ended') = (status <> '')),
    CHECK ((state = 'ended') = (package IS NOT NULL))
);
CREATE INDEX circle_requests_updated ON circle_requests (updated_at, id);
CREATE INDEX circle_requests_circle ON circle_requests (circle, updated_at, id);
CREATE INDEX circle_requests_running ON circle_requests (updated_at) WHERE state = 'running';

-- circle_runs: no worker runs without a prompt that is on record.
CREATE TABLE circle_runs (
    id                      TEXT COLLATE "C" PRIMARY KEY,
    revision                BIGINT NOT NULL,
    request                 TEXT COLLATE "C" NOT NULL REFERENCES circle_requests (id),
    step                    BIGINT NOT NULL CHECK (step >= 1),
    attempt                 BIGINT NOT NULL CHECK (attempt >= 1),
    worker                  TEXT COLLATE "C" NOT NULL,
    engine                  TEXT COLLATE "C" NOT NULL CHECK (engine IN ('builtin', 'model')),
    model                   TEXT COLLATE "C" NOT NULL,
    constitution_version    TEXT COLLATE "C" NOT NULL CHECK (constitution_version <> ''),
    subagent_prompt_version TEXT COLLATE "C" NOT NULL CHECK (subagent_prompt_version <> ''),
    prompt_sha256           TEXT COLLATE "C" NOT NULL CHECK (prompt_sha256 <> ''),
    origin                  TEXT COLLATE "C" NOT NULL CHECK (origin IN ('internal', 'external')),
    state                   TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    fault                   TEXT COLLATE "C" NOT NULL,
    artifacts               TEXT COLLATE "C" NOT NULL, -- ',id,id,'
    started_at              BIGINT NOT NULL,
    deadline                BIGINT NOT NULL,
    ended_at                BIGINT,
    UNIQUE (request, step, attempt),
    CHECK ((state = 'running') = (ended_at IS NULL))
);

-- circle_artifacts: what is confirmed names who did it.
CREATE TABLE circle_artifacts (
    id             TEXT COLLATE "C" NOT NULL,
    version        BIGINT NOT NULL CHECK (version >= 1),
    revision       BIGINT NOT NULL,
    head           BOOLEAN NOT NULL, -- whether it is the newest version
    circle         TEXT COLLATE "C" NOT NULL REFERENCES circles (id),
    request        TEXT COLLATE "C" NOT NULL REFERENCES circle_requests (id),
    owner          TEXT COLLATE "C" NOT NULL,
    type           TEXT COLLATE "C" NOT NULL,
    visibility     TEXT COLLATE "C" NOT NULL CHECK (visibility IN ('private', 'circle', 'clan', 'public')),
    status         TEXT COLLATE "C" NOT NULL CHECK (status IN ('draft', 'needs_confirmation', 'waiting_for_consent', 'confirmed')),
    reason         TEXT COLLATE "C" NOT NULL,
    content        BYTEA NOT NULL,
    content_sha256 TEXT COLLATE "C" NOT NULL,
    origin         TEXT COLLATE "C" NOT NULL CHECK (origin IN ('internal', 'external')),
    provenance     BYTEA NOT NULL, -- JSON
    flags          TEXT COLLATE "C" NOT NULL, -- ',flag,flag,'
    concerns       BYTEA NOT NULL, -- JSON
    scope          BYTEA NOT NULL, -- JSON
    consent_by     BIGINT,
    waits_for      TEXT COLLATE "C" NOT NULL,
    blocks         TEXT COLLATE "C" NOT NULL, -- ',condition,condition,'
    confirmed_by   TEXT COLLATE "C" NOT NULL,
    confirmed_at   BIGINT,
    contract       TEXT COLLATE "C" NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    PRIMARY KEY (id, version),
    CHECK ((status = 'confirmed') = (confirmed_by <> '')),
    CHECK ((status = 'confirmed') = (confirmed_at IS NOT NULL))
);
CREATE UNIQUE INDEX circle_artifacts_head ON circle_artifacts (id) WHERE head;
CREATE INDEX circle_artifacts_request ON circle_artifacts (request, created_at);
CREATE INDEX circle_artifacts_circle ON circle_artifacts (circle, updated_at, id);
CREATE INDEX circle_artifacts_waiting ON circle_artifacts (consent_by) WHERE status = 'waiting_for_consent' AND head;

CREATE TABLE circle_consents (
    id             TEXT COLLATE "C" PRIMARY KEY,
    seq            BIGINT NOT NULL, -- the place in the artifact's ledger
    revision       BIGINT NOT NULL,
    circle         TEXT COLLATE "C" NOT NULL REFERENCES circles (id),
    member         TEXT COLLATE "C" NOT NULL REFERENCES actors (id),
    request        TEXT COLLATE "C" NOT NULL REFERENCES circle_requests (id),
    artifact       TEXT COLLATE "C" NOT NULL,
    content_sha256 TEXT COLLATE "C" NOT NULL,
    action         TEXT COLLATE "C" NOT NULL,
    visibility     TEXT COLLATE "C" NOT NULL CHECK (visibility IN ('private', 'circle', 'clan', 'public')),
    recipients     BYTEA NOT NULL, -- JSON
    decision       TEXT COLLATE "C" NOT NULL CHECK (decision IN ('granted', 'refused', 'revoked')),
    decided_at     BIGINT NOT NULL,
    expires_at     BIGINT,
    revoked_at     BIGINT,
    step_up        TEXT COLLATE "C" NOT NULL,
    UNIQUE (artifact, seq),
    CHECK ((decision = 'revoked') = (revoked_at IS NOT NULL)),
    CHECK (expires_at > decided_at)
);
CREATE INDEX circle_consents_decided ON circle_consents (circle, decided_at, id);
CREATE INDEX circle_consents_member ON circle_consents (member, decided_at, id);

-- circle_notes is what can be found; seq is what the full text knows it by.
CREATE TABLE circle_notes (
    seq        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL UNIQUE,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('memory', 'artifact', 'document')),
    circle     TEXT COLLATE "C" NOT NULL REFERENCES circles (id),
    owner      TEXT COLLATE "C" NOT NULL,
    visibility TEXT COLLATE "C" NOT NULL CHECK (visibility IN ('private', 'circle', 'clan', 'public')),
    origin     TEXT COLLATE "C" NOT NULL CHECK (origin IN ('internal', 'external')),
    source     TEXT COLLATE "C" NOT NULL,
    sha256     TEXT COLLATE "C" NOT NULL,
    title      BYTEA NOT NULL,
    text       BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);

CREATE TABLE identity_factors (
    id           TEXT COLLATE "C" PRIMARY KEY,
    revision     BIGINT NOT NULL,
    actor        TEXT COLLATE "C" NOT NULL REFERENCES actors (id),
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('totp', 'webauthn')),
    name         TEXT COLLATE "C" NOT NULL,
    material     BYTEA NOT NULL,
    counter      BIGINT NOT NULL CHECK (counter >= 0),
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT,
    revoked_at   BIGINT
);
CREATE INDEX identity_factors_actor ON identity_factors (actor, created_at);

CREATE TABLE identity_challenges (
    id          TEXT COLLATE "C" PRIMARY KEY,
    revision    BIGINT NOT NULL,
    actor       TEXT COLLATE "C" NOT NULL REFERENCES actors (id),
    circle      TEXT COLLATE "C" NOT NULL,
    request     TEXT COLLATE "C" NOT NULL,
    action      TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('totp', 'webauthn')),
    material    BYTEA NOT NULL,
    attempts    BIGINT NOT NULL CHECK (attempts >= 0),
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    answered_at BIGINT,
    factor      TEXT COLLATE "C" NOT NULL,
    CHECK ((answered_at IS NULL) = (factor = ''))
);

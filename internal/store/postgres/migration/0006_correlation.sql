-- The correlation id of a path is the id of the request that started it; of a
-- chain that nobody asked for through the circle, the id of its intent. It is
-- fixed when the chain is made. The same columns as
-- sqlite/migration/0006_correlation.sql.
--
-- The chains of before name no request, and the records of before say for
-- themselves what they belong to.
ALTER TABLE chains ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE chains SET correlation_id = id;
CREATE INDEX chains_correlation ON chains (correlation_id);

ALTER TABLE contracts ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE contracts SET correlation_id = chain;

ALTER TABLE runs ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE runs SET correlation_id = chain;

ALTER TABLE phase_artifacts ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE phase_artifacts SET correlation_id = chain;

ALTER TABLE reviews ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE reviews SET correlation_id = chain;

ALTER TABLE votes ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE votes SET correlation_id = coalesce((SELECT c.chain FROM contracts c WHERE c.id = votes.contract LIMIT 1), '');

ALTER TABLE consents ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE consents SET correlation_id = coalesce((SELECT c.chain FROM contracts c WHERE c.id = consents.gate LIMIT 1), '');

ALTER TABLE events ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE events SET correlation_id = chain;
CREATE INDEX events_correlation ON events (correlation_id, position);

ALTER TABLE audit ADD COLUMN correlation_id TEXT NOT NULL DEFAULT '';
UPDATE audit SET correlation_id = coalesce(substring(convert_from(line, 'UTF8') from '"correlationId":"([A-Za-z0-9._:-]+)"'), '');
CREATE INDEX audit_correlation ON audit (correlation_id, position);

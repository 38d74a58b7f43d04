-- Chains are listed by the level of their gate. The same as
-- postgres/migration/0010_levels.sql.
CREATE INDEX contracts_level ON contracts (level, chain) WHERE head AND kind = 'PublishGate';

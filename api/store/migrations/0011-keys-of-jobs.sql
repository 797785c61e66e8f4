-- The page of a job says which API key created it.

alter table jobs add column key_id text;  -- null: created before this column

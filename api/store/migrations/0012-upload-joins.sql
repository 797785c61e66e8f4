-- One call at a time joins the parts of an upload, under a lease: api/uploads/upload-join-rows.ts.

alter table uploads
  add column join_attempt integer not null default 0,  -- calls that have begun to join the parts
  add column join_lease_until timestamptz;             -- extended while a call joins them; null: none does

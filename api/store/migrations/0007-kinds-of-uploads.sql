-- What a job of an upload can cost goes by the upload's content, whatever its name says.

alter table uploads add column kinds text[];  -- that the content may have by its first bytes; null: any

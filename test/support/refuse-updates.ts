import type { Database } from '#api/store/database.ts';

/** Makes every update of a job fail in the database. Returns a function that ends this. */
export async function refuseUpdates(database: Database, jobId: string): Promise<() => Promise<void>> {
  await database.query(
    `create function refuse_update() returns trigger language plpgsql
       as $$ begin raise exception 'this row cannot be updated'; end $$;
     create trigger refuse_update before update on jobs
       for each row when (old.id = '${jobId}') execute function refuse_update()`,
  );
  return async () => {
    await database.query('drop trigger refuse_update on jobs; drop function refuse_update');
  };
}

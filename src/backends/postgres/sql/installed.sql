-- Revisions of the functions that are there: of those without a mark, 1. Null: none is there.
SELECT min(coalesce(substring(prosrc FROM '-- holdfast revision ([0-9]+)')::int, 1)) FROM pg_proc
  WHERE pronamespace = to_regnamespace('{schema}') AND '"' || proname || '"' IN ({functions})

-- What is installed, to be compared with what should be.
SELECT proname AS name, md5(prosrc) AS digest FROM pg_proc
WHERE pronamespace = to_regnamespace('{schema}') AND '"' || proname || '"' IN ({functions})

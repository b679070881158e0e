-- What is missing for this role to lock: names of objects, or of objects and the right to them.
WITH needed (object, rights) AS (
  VALUES ('{meta}', 'SELECT'), ('{meta}', 'UPDATE'),
         ('{keys}', 'SELECT'), ('{keys}', 'INSERT'), ('{keys}', 'UPDATE'), ('{keys}', 'DELETE'),
         ('{line}', 'SELECT'), ('{line}', 'INSERT'), ('{line}', 'UPDATE'), ('{line}', 'DELETE')
)
SELECT CASE WHEN to_regclass(object) IS NULL THEN object ELSE rights || ' on ' || object END AS missing
FROM needed
WHERE to_regclass(object) IS NULL OR NOT has_table_privilege(to_regclass(object), rights)
UNION ALL
SELECT CASE WHEN to_regclass('{tokens}') IS NULL THEN '{tokens}' ELSE 'USAGE and SELECT on {tokens}' END
WHERE to_regclass('{tokens}') IS NULL
   OR NOT (has_sequence_privilege(to_regclass('{tokens}'), 'USAGE') AND has_sequence_privilege(to_regclass('{tokens}'), 'SELECT'))
UNION ALL
-- Which everybody has, unless the default was changed.
SELECT 'EXECUTE on ' || oid::regprocedure FROM pg_proc
WHERE pronamespace = to_regnamespace('{schema}') AND NOT has_function_privilege(oid, 'EXECUTE') AND '"' || proname || '"' IN ({functions})

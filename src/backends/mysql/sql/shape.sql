-- What the table is made of, as far as the user may see it.
-- :database (or empty: the session's), :relation
SELECT ENGINE AS engine, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable, COLUMN_KEY AS part
FROM information_schema.TABLES AS made JOIN information_schema.COLUMNS AS columns USING (TABLE_SCHEMA, TABLE_NAME)
WHERE TABLE_SCHEMA = COALESCE(NULLIF(CONVERT(:database USING utf8mb3), ''), DATABASE()) AND TABLE_NAME = CONVERT(:relation USING utf8mb3)

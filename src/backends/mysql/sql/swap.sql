-- Puts another line in the place of the one that was read, unless it has changed meanwhile: how the dead are removed.
-- :name, :old, :new
UPDATE {table} SET line = :new, used = {latest} WHERE name = :name AND line = :old

-- :name, :text, :ttl (µs)
INSERT INTO {notes} (name, text, expires) VALUES (:name, :text, {latest} + CAST(:ttl AS SIGNED))
ON DUPLICATE KEY UPDATE text = VALUES(text), expires = VALUES(expires)

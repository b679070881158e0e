-- :name, :text, :ttl (µs)
INSERT INTO {notes} (name, text, lapses) VALUES (:name, :text, {latest} + CAST(:ttl AS SIGNED))
ON DUPLICATE KEY UPDATE text = VALUES(text), lapses = VALUES(lapses)

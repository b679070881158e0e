-- Whether this is set up for us, and what time it is there; as text, for pg misreads numbers where its pool is `binary`.
SELECT format, ({installed}) AS revision,
       current_setting('server_version_num') AS version, version() AS product,
       (extract(epoch FROM clock_timestamp()) * 1000)::text AS server_time
FROM {meta}

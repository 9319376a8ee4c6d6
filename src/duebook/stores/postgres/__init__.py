"""PostgreSQL through asyncpg."""

import type { MigrationInterface, QueryRunner } from 'typeorm'

export class Orders1795616776705 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table nest.orders (
      id uuid primary key default gen_random_uuid(),
      customer text not null,
      customer_folded text not null,
      total_e4 bigint not null,
      status integer not null default 0,
      created_at timestamptz not null default now(),
      created_at_time_zone text,
      created_by text,
      updated_at timestamptz,
      updated_at_time_zone text,
      modified_by text,
      version integer not null
    )`)
    await runner.query('create index orders_created_at on nest.orders (created_at)')
    await runner.query('create extension if not exists pg_trgm')
    await runner.query(
      'create index orders_customer_folded_trigrams on nest.orders using gin (customer_folded gin_trgm_ops)',
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table nest.orders')
  }
}

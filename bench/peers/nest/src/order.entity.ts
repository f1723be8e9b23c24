import { Column, Entity, PrimaryColumn } from 'typeorm'

/** int8 arrives as text. */
const number = { to: (value: number | null) => value, from: (value: string | null) => (value === null ? null : Number(value)) }

@Entity('orders')
export class Order {
  @PrimaryColumn('uuid') id: string
  @Column('text') customer: string
  @Column('text', { name: 'customer_folded' }) customerFolded: string
  @Column('bigint', { name: 'total_e4', transformer: number }) totalE4: number
  @Column('int') status: number
  @Column('bigint', { name: 'created_at', transformer: number }) createdAt: number
  @Column('text', { name: 'created_at_time_zone', nullable: true }) createdAtTimeZone: string | null
  @Column('text', { name: 'created_by', nullable: true }) createdBy: string | null
  @Column('bigint', { name: 'updated_at', nullable: true, transformer: number }) updatedAt: number | null
  @Column('text', { name: 'updated_at_time_zone', nullable: true }) updatedAtTimeZone: string | null
  @Column('text', { name: 'modified_by', nullable: true }) modifiedBy: string | null
  @Column('int') version: number
}

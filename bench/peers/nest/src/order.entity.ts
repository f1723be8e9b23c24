import {
  Column,
  CreateDateColumn,
  Entity,
  Index,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm'

/** int8 arrives as text. */
const number = { to: (value: number) => value, from: (value: string) => Number(value) }

@Entity('orders')
export class Order {
  @PrimaryGeneratedColumn('uuid') id: string
  @Column('text') customer: string
  /** TypeORM cannot describe an index of trigrams: the migration makes it. */
  @Index('orders_customer_folded_trigrams', { synchronize: false })
  @Column('text', { name: 'customer_folded' })
  customerFolded: string
  @Column('bigint', { name: 'total_e4', transformer: number }) totalE4: number
  @Column('int', { default: 0 }) status: number
  @Index('orders_created_at')
  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date
  @Column('text', { name: 'created_at_time_zone', nullable: true }) createdAtTimeZone: string | null
  @Column('text', { name: 'created_by', nullable: true }) createdBy: string | null
  @Column('timestamptz', { name: 'updated_at', nullable: true }) updatedAt: Date | null
  @Column('text', { name: 'updated_at_time_zone', nullable: true }) updatedAtTimeZone: string | null
  @Column('text', { name: 'modified_by', nullable: true }) modifiedBy: string | null
  @VersionColumn() version: number
}

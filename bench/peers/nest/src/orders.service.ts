import { Injectable, NotFoundException } from '@nestjs/common'
import { InjectRepository } from '@nestjs/typeorm'
import { Like, Repository } from 'typeorm'
import { Order } from './order.entity.js'
import type { CreateOrderDto, ListOrdersQuery } from './orders.dto.js'

@Injectable()
export class OrdersService {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  async findOne(id: string): Promise<Order> {
    const order = await this.orders.findOneBy({ id })
    if (order === null) throw new NotFoundException()
    return order
  }

  findPage({ pageNumber, pageSize, filter }: ListOrdersQuery): Promise<[Order[], number]> {
    return this.orders.findAndCount({
      ...(filter === undefined ? {} : { where: { customerFolded: Like(`%${filter.toLowerCase()}%`) } }),
      order: { createdAt: 'DESC' },
      take: pageSize,
      skip: (pageNumber - 1) * pageSize,
    })
  }

  async create({ customer, total }: CreateOrderDto, createdBy: string): Promise<Order> {
    return this.orders.save(
      this.orders.create({
        customer,
        customerFolded: customer.toLowerCase(),
        totalE4: Math.round(total * 10_000),
        createdAtTimeZone: 'UTC',
        createdBy,
      }),
    )
  }
}

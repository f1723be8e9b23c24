import { Body, Controller, Get, Param, ParseUUIDPipe, Post, Query, Req } from '@nestjs/common'
import type { Order } from './order.entity.js'
import { CreateOrderDto, ListOrdersQuery } from './orders.dto.js'
import { OrdersService } from './orders.service.js'

@Controller()
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get('health')
  health() {
    return { status: 'ok' }
  }

  @Get('v1/orders')
  async findPage(@Query() query: ListOrdersQuery) {
    const [items, totalCount] = await this.orders.findPage(query)
    const totalPages = Math.ceil(totalCount / query.pageSize)
    return { items: items.map(toSummary), pageNumber: query.pageNumber, totalPages, totalCount }
  }

  @Get('v1/orders/:id')
  async findOne(@Param('id', ParseUUIDPipe) id: string) {
    const order = await this.orders.findOne(id)
    return {
      ...toSummary(order),
      createdAtTimeZone: order.createdAtTimeZone,
      updatedAtUtc: order.updatedAt,
      updatedAtTimeZone: order.updatedAtTimeZone,
      createdBy: order.createdBy,
      modifiedBy: order.modifiedBy,
    }
  }

  @Post('v1/orders')
  async create(@Body() order: CreateOrderDto, @Req() request: { user: { preferred_username: string } }) {
    const { id } = await this.orders.create(order, request.user.preferred_username)
    return { id }
  }
}

function toSummary({ id, customer, totalE4, status, createdAt }: Order) {
  return { id, customer, total: totalE4 / 10_000, status, createdAtUtc: createdAt }
}

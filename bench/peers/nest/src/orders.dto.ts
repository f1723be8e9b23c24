import { Type } from 'class-transformer'
import { IsInt, IsNumber, IsOptional, IsPositive, IsString, Length, Max, Min } from 'class-validator'

export class ListOrdersQuery {
  @Type(() => Number) @IsInt() @Min(1) pageNumber = 1
  @Type(() => Number) @IsInt() @Min(1) @Max(100) pageSize = 10
  @IsOptional() @IsString() filter?: string
}

export class CreateOrderDto {
  @IsString() @Length(1, 200) customer: string
  @IsNumber() @IsPositive() total: number
}

import 'reflect-metadata'
import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Module, ValidationPipe } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { JwtModule } from '@nestjs/jwt'
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'
import { TypeOrmModule } from '@nestjs/typeorm'
import helmet from 'helmet'
import { AuthGuard } from './auth.guard.js'
import { options } from './data-source.js'
import { Order } from './order.entity.js'
import { OrdersController } from './orders.controller.js'
import { OrdersService } from './orders.service.js'

const publicKey = createPublicKey(readFileSync(process.env.SIGNING_KEY_FILES ?? '')).export({ type: 'spki', format: 'pem' })

@Module({
  imports: [
    ThrottlerModule.forRoot([{ ttl: 60_000, limit: 1_000_000_000 }]),
    JwtModule.register({ publicKey, verifyOptions: { algorithms: ['RS256'], issuer: process.env.PUBLIC_URL } }),
    TypeOrmModule.forRoot(options),
    TypeOrmModule.forFeature([Order]),
  ],
  controllers: [OrdersController],
  providers: [
    OrdersService,
    { provide: APP_GUARD, useClass: ThrottlerGuard },
    { provide: APP_GUARD, useClass: AuthGuard },
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule)
app.use(helmet())
app.useGlobalPipes(new ValidationPipe({ transform: true }))
await app.listen(Number(process.env.PORT), '127.0.0.1')

import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common'
import { JwtService } from '@nestjs/jwt'

@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly jwt: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest()
    if (request.url === '/health') return true
    const [type, token] = request.headers.authorization?.split(' ') ?? []
    if (type !== 'Bearer') throw new UnauthorizedException()
    try {
      request.user = await this.jwt.verifyAsync(token)
    } catch {
      throw new UnauthorizedException()
    }
    return true
  }
}

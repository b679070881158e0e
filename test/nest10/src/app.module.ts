import { Module } from '@nestjs/common';
import { LocksModule } from 'holdfast/nestjs';
import { OrdersService } from './orders.service';

@Module({
  imports: [LocksModule.forRoot({ url: process.env.HOLDFAST_URL ?? 'memory:' })],
  providers: [OrdersService],
})
export class AppModule {}

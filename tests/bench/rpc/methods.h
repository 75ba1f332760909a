#pragma once

namespace skep::bench {

// The methods that are measured; the echo answers all of them.
inline constexpr char kOpen[] = "/skep.v1.TransactionService/OpenTransactions";
inline constexpr char kCommit[] = "/skep.v1.TransactionService/CommitTransaction";
inline constexpr char kHeartbeat[] = "/skep.v1.TransactionService/HeartbeatTransactions";
inline constexpr char kGetTransaction[] = "/skep.v1.TransactionService/GetTransaction";
inline constexpr char kGetSnapshot[] = "/skep.v1.TransactionService/GetSnapshot";
inline constexpr char kAllocate[] = "/skep.v1.TableService/AllocateWriteIds";
inline constexpr char kGetValidWriteIds[] = "/skep.v1.TableService/GetValidWriteIds";

}  // namespace skep::bench

// The parts of CUB that work within a warp or a block: scans and reductions. Partial results are
// combined in rising order of threads.
#pragma once
#include "groups.h"

namespace cub {

struct NullType {};
#define SIMT_CUB_OPERATION(name, result)                                                           \
    struct name {                                                                                  \
        template <class T> SIMT_BOTH_METHOD T operator()(const T &a, const T &b) const {           \
            return result;                                                                         \
        }                                                                                          \
    };
SIMT_CUB_OPERATION(Sum, a + b)
SIMT_CUB_OPERATION(Max, a < b ? b : a)
SIMT_CUB_OPERATION(Min, b < a ? b : a)
#undef SIMT_CUB_OPERATION

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int N = SIMT_WARP, int Arch = 0> struct WarpScan {
    struct TempStorage {};
    SIMT_METHOD WarpScan(TempStorage &) {}
    template <class Op> SIMT_METHOD void InclusiveScan(T in, T &out, Op op, SIMT_LINE) {
        out = cooperative_groups::inclusive_scan(tile(), in, op, simt_line);
    }
    template <class Op> SIMT_METHOD void InclusiveScan(T in, T &out, Op op, T &all, SIMT_LINE) {
        out = cooperative_groups::inclusive_scan(tile(), in, op, simt_line);
        all = tile().shfl(out, N - 1, simt_line);
    }
    template <class Op> SIMT_METHOD void ExclusiveScan(T in, T &out, T first, Op op, SIMT_LINE) {
        T whole = cooperative_groups::inclusive_scan(tile(), in, op, simt_line);
        T before = tile().shfl_up(whole, 1, simt_line);
        out = tile().thread_rank() == 0 ? first : op(first, before);
    }
    SIMT_METHOD void InclusiveSum(T in, T &out, SIMT_LINE) {
        InclusiveScan(in, out, Sum(), simt_line);
    }
    SIMT_METHOD void InclusiveSum(T in, T &out, T &all, SIMT_LINE) {
        InclusiveScan(in, out, Sum(), all, simt_line);
    }
    SIMT_METHOD void ExclusiveSum(T in, T &out, SIMT_LINE) {
        ExclusiveScan(in, out, T(), Sum(), simt_line);
    }
    SIMT_METHOD void ExclusiveSum(T in, T &out, T &all, SIMT_LINE) {
        ExclusiveScan(in, out, T(), Sum(), simt_line);
        all = tile().shfl(out + in, N - 1, simt_line);
    }
    SIMT_METHOD T Broadcast(T value, unsigned lane, SIMT_LINE) {
        return tile().shfl(value, (int)lane, simt_line);
    }

  private:
    SIMT_METHOD static cooperative_groups::thread_block_tile<N> tile() { return {}; }
};

template <class T, int N = SIMT_WARP, int Arch = 0> struct WarpReduce {
    struct TempStorage {};
    SIMT_METHOD WarpReduce(TempStorage &) {}
    template <class Op> SIMT_METHOD T Reduce(T in, Op op, SIMT_LINE) {
        return cooperative_groups::reduce(cooperative_groups::thread_block_tile<N>(), in, op,
                                          simt_line);
    }
    template <class Op> SIMT_METHOD T Reduce(T in, Op op, int valid, SIMT_LINE) {
        cooperative_groups::thread_block_tile<N> tile;
        for (unsigned covered = 1; covered < N; covered *= 2) {
            T other = tile.shfl_down(in, covered, simt_line);
            if (tile.thread_rank() + covered < (unsigned)valid) in = op(in, other);
        }
        return in;
    }
    SIMT_METHOD T Sum(T in, SIMT_LINE) { return Reduce(in, cub::Sum(), simt_line); }
    SIMT_METHOD T Sum(T in, int valid, SIMT_LINE) {
        return Reduce(in, cub::Sum(), valid, simt_line);
    }
};

template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          int Arch = 0>
struct BlockScan {
    enum { WARPS = (X * Y * Z + SIMT_WARP - 1) / SIMT_WARP };
    struct TempStorage {
        T warps[WARPS];
        T shared;
    };
    TempStorage &temp;
    SIMT_METHOD BlockScan(TempStorage &temp) : temp(temp) {}

    template <class Op> SIMT_METHOD void InclusiveScan(T in, T &out, Op op, T &all, SIMT_LINE) {
        unsigned rank = simt_thread_rank(), warp = rank / SIMT_WARP;
        out = within(in, op, simt_line);
        __simt_sync_block(simt_line);
        if (rank % SIMT_WARP == SIMT_WARP - 1 || rank == X * Y * Z - 1) temp.warps[warp] = out;
        __simt_sync_block(simt_line);
        T before = temp.warps[0];
        for (unsigned w = 1; w < warp; w++) before = op(before, temp.warps[w]);
        all = before;
        for (unsigned w = warp > 1 ? warp : 1; w < WARPS; w++) all = op(all, temp.warps[w]);
        if (warp) out = op(before, out);
    }
    template <class Op> SIMT_METHOD void InclusiveScan(T in, T &out, Op op, SIMT_LINE) {
        T all;
        InclusiveScan(in, out, op, all, simt_line);
    }
    template <class Op>
    SIMT_METHOD void ExclusiveScan(T in, T &out, T first, Op op, T &all, SIMT_LINE) {
        T whole;
        InclusiveScan(in, whole, op, all, simt_line);
        out = shifted(whole, first, op, simt_line);
    }
    template <class Op> SIMT_METHOD void ExclusiveScan(T in, T &out, T first, Op op, SIMT_LINE) {
        T all;
        ExclusiveScan(in, out, first, op, all, simt_line);
    }
    SIMT_METHOD void InclusiveSum(T in, T &out, SIMT_LINE) {
        InclusiveScan(in, out, Sum(), simt_line);
    }
    SIMT_METHOD void InclusiveSum(T in, T &out, T &all, SIMT_LINE) {
        InclusiveScan(in, out, Sum(), all, simt_line);
    }
    SIMT_METHOD void ExclusiveSum(T in, T &out, SIMT_LINE) {
        ExclusiveScan(in, out, T(), Sum(), simt_line);
    }
    SIMT_METHOD void ExclusiveSum(T in, T &out, T &all, SIMT_LINE) {
        ExclusiveScan(in, out, T(), Sum(), all, simt_line);
    }
    template <int K> SIMT_METHOD void InclusiveSum(T (&in)[K], T (&out)[K], SIMT_LINE) {
        T all;
        scan_items(in, out, all, true, simt_line);
    }
    template <int K> SIMT_METHOD void InclusiveSum(T (&in)[K], T (&out)[K], T &all, SIMT_LINE) {
        scan_items(in, out, all, true, simt_line);
    }
    template <int K> SIMT_METHOD void ExclusiveSum(T (&in)[K], T (&out)[K], SIMT_LINE) {
        T all;
        scan_items(in, out, all, false, simt_line);
    }
    template <int K> SIMT_METHOD void ExclusiveSum(T (&in)[K], T (&out)[K], T &all, SIMT_LINE) {
        scan_items(in, out, all, false, simt_line);
    }

  private:
    template <class Op> SIMT_METHOD static T within(T value, Op op, unsigned line) {
        unsigned lane = simt_thread_rank() % SIMT_WARP;
        simt_u64 there = __simt_active();
        for (unsigned delta = 1; delta < SIMT_WARP; delta *= 2) {
            T before = simt_exchange(line, SIMT_SHUFFLE_UP, there, value, delta, SIMT_WARP);
            if (lane >= delta) value = op(before, value);
        }
        return value;
    }
    template <class Op> SIMT_METHOD T shifted(T whole, T first, Op op, unsigned line) {
        unsigned rank = simt_thread_rank(), lane = rank % SIMT_WARP;
        T before = simt_exchange(line, SIMT_SHUFFLE_UP, __simt_active(), whole, 1, SIMT_WARP);
        __simt_sync_block(line);
        if (lane == SIMT_WARP - 1) temp.warps[rank / SIMT_WARP] = whole;
        __simt_sync_block(line);
        if (rank == 0) return first;
        return op(first, lane == 0 ? temp.warps[rank / SIMT_WARP - 1] : before);
    }
    template <int K>
    SIMT_METHOD void scan_items(T (&in)[K], T (&out)[K], T &all, bool inclusive, unsigned line) {
        T own = in[0];
        for (int k = 1; k < K; k++) own = own + in[k];
        T before;
        ExclusiveScan(own, before, T(), Sum(), all, line);
        for (int k = 0; k < K; k++) {
            T value = in[k];
            out[k] = inclusive ? before + value : before;
            before = before + value;
        }
    }
};

template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1,
          int Z = 1, int Arch = 0>
struct BlockReduce {
    typedef typename BlockScan<T, X, BLOCK_SCAN_RAKING, Y, Z>::TempStorage TempStorage;
    TempStorage &temp;
    SIMT_METHOD BlockReduce(TempStorage &temp) : temp(temp) {}
    // In every thread; CUB promises it in the first alone.
    template <class Op> SIMT_METHOD T Reduce(T in, Op op, SIMT_LINE) {
        T out, all;
        BlockScan<T, X, BLOCK_SCAN_RAKING, Y, Z>(temp).InclusiveScan(in, out, op, all, simt_line);
        return all;
    }
    SIMT_METHOD T Sum(T in, SIMT_LINE) { return Reduce(in, cub::Sum(), simt_line); }
    template <int K> SIMT_METHOD T Sum(T (&in)[K], SIMT_LINE) {
        T own = in[0];
        for (int k = 1; k < K; k++) own = own + in[k];
        return Reduce(own, cub::Sum(), simt_line);
    }
};

// Loads and stores of K items of a thread, blocked; how they travel on a GPU makes no difference.
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
template <int X, int K, int Y, int Z, bool Striped> SIMT_FN unsigned simt_item(int k) {
    return Striped ? k * X * Y * Z + simt_thread_rank() : simt_thread_rank() * K + k;
}
template <class T, int X, int K, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int Arch = 0>
struct BlockLoad {
    struct TempStorage {};
    SIMT_METHOD BlockLoad(TempStorage &) {}
    SIMT_METHOD BlockLoad() {}
    template <class From> SIMT_METHOD void Load(From from, T (&items)[K]) {
        for (int k = 0; k < K; k++) items[k] = from[at(k)];
    }
    template <class From> SIMT_METHOD void Load(From from, T (&items)[K], int valid) {
        for (int k = 0; k < K; k++) {
            if ((int)at(k) < valid) items[k] = from[at(k)];
        }
    }
    template <class From, class D>
    SIMT_METHOD void Load(From from, T (&items)[K], int valid, D other) {
        for (int k = 0; k < K; k++) items[k] = (int)at(k) < valid ? (T)from[at(k)] : (T)other;
    }

  private:
    SIMT_METHOD static unsigned at(int k) {
        return simt_item<X, K, Y, Z, A == BLOCK_LOAD_STRIPED>(k);
    }
};
template <class T, int X, int K, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1,
          int Arch = 0>
struct BlockStore {
    struct TempStorage {};
    SIMT_METHOD BlockStore(TempStorage &) {}
    SIMT_METHOD BlockStore() {}
    template <class To> SIMT_METHOD void Store(To to, T (&items)[K]) {
        for (int k = 0; k < K; k++) to[at(k)] = items[k];
    }
    template <class To> SIMT_METHOD void Store(To to, T (&items)[K], int valid) {
        for (int k = 0; k < K; k++) {
            if ((int)at(k) < valid) to[at(k)] = items[k];
        }
    }

  private:
    SIMT_METHOD static unsigned at(int k) {
        return simt_item<X, K, Y, Z, A == BLOCK_STORE_STRIPED>(k);
    }
};

}  // namespace cub

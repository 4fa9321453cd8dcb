// Cooperative groups of a block and of a warp. A tile's operations are those of a warp with the
// tile's lanes as the mask; what is larger than 8 bytes is exchanged in pieces.
#pragma once
#include "half.h"

template <class T>
SIMT_FN T simt_exchange(unsigned line, unsigned op, simt_u64 mask, T value, unsigned arg,
                        unsigned width) {
    T result;
    char *from = (char *)&value, *to = (char *)&result;
    for (unsigned at = 0; at < sizeof(T); at += 8) {
        simt_u64 piece = 0;
        unsigned size = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
        __builtin_memcpy(&piece, from + at, size);
        piece = __simt_shuffle(line, op, mask, piece, arg, width);
        __builtin_memcpy(to + at, &piece, size);
    }
    return result;
}
template <class T> SIMT_FN simt_u64 simt_bits_of(T value) {
    static_assert(sizeof(T) <= 8, "only values of up to 8 bytes are matched");
    simt_u64 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
SIMT_FN unsigned simt_thread_rank() {
    return __simt_tid(0) + __simt_ntid(0) * (__simt_tid(1) + __simt_ntid(1) * __simt_tid(2));
}
SIMT_FN unsigned simt_block_size() { return __simt_ntid(0) * __simt_ntid(1) * __simt_ntid(2); }
// The lane of the n-th bit that is set.
SIMT_FN unsigned simt_nth_lane(simt_u64 mask, unsigned n) {
    for (; n; n--) mask &= mask - 1;
    return (unsigned)__builtin_ctzll(mask);
}

namespace cooperative_groups {

struct thread_block {
    SIMT_METHOD static void sync(SIMT_LINE) { __simt_sync_block(simt_line); }
    SIMT_METHOD static unsigned thread_rank() { return simt_thread_rank(); }
    SIMT_METHOD static unsigned size() { return simt_block_size(); }
    SIMT_METHOD static unsigned num_threads() { return simt_block_size(); }
    SIMT_METHOD static dim3 group_index() {
        return dim3(__simt_ctaid(0), __simt_ctaid(1), __simt_ctaid(2));
    }
    SIMT_METHOD static dim3 thread_index() {
        return dim3(__simt_tid(0), __simt_tid(1), __simt_tid(2));
    }
    SIMT_METHOD static dim3 group_dim() {
        return dim3(__simt_ntid(0), __simt_ntid(1), __simt_ntid(2));
    }
    SIMT_METHOD static dim3 dim_threads() { return group_dim(); }
};

// Blocks run one after the other, so none can wait for all of them.
struct grid_group {
    SIMT_METHOD static unsigned long long thread_rank() {
        return block_rank() * simt_block_size() + simt_thread_rank();
    }
    SIMT_METHOD static unsigned long long block_rank() {
        return __simt_ctaid(0) +
               (unsigned long long)__simt_nctaid(0) *
                   (__simt_ctaid(1) + (unsigned long long)__simt_nctaid(1) * __simt_ctaid(2));
    }
    SIMT_METHOD static unsigned long long num_blocks() {
        return (unsigned long long)__simt_nctaid(0) * __simt_nctaid(1) * __simt_nctaid(2);
    }
    SIMT_METHOD static unsigned long long size() { return num_blocks() * simt_block_size(); }
    SIMT_METHOD static unsigned long long num_threads() { return size(); }
    SIMT_METHOD static bool is_valid() { return false; }
    SIMT_DEVICE static void sync(unsigned line = 0)
        __attribute__((unavailable("blocks run one after the other here: no barrier of the grid")));
};
SIMT_FN thread_block this_thread_block() { return thread_block(); }
SIMT_FN grid_group this_grid() { return grid_group(); }

// Lanes of a warp, `width` of them from `base` on.
struct simt_lanes {
    unsigned base, width;
    SIMT_METHOD simt_u64 mask() const {
        return (width >= 64 ? ~0ull : (1ull << width) - 1) << base;
    }
    SIMT_METHOD void sync(SIMT_LINE) const { __simt_sync_warp(simt_line, mask()); }
    SIMT_METHOD unsigned thread_rank() const { return __simt_lane() - base; }
    SIMT_METHOD unsigned size() const { return width; }
    SIMT_METHOD unsigned num_threads() const { return width; }
    template <class T> SIMT_METHOD T shfl(T value, int rank, SIMT_LINE) const {
        return simt_exchange(simt_line, SIMT_SHUFFLE_INDEX, mask(), value, (unsigned)rank, width);
    }
    template <class T> SIMT_METHOD T shfl_up(T value, unsigned delta, SIMT_LINE) const {
        return simt_exchange(simt_line, SIMT_SHUFFLE_UP, mask(), value, delta, width);
    }
    template <class T> SIMT_METHOD T shfl_down(T value, unsigned delta, SIMT_LINE) const {
        return simt_exchange(simt_line, SIMT_SHUFFLE_DOWN, mask(), value, delta, width);
    }
    template <class T> SIMT_METHOD T shfl_xor(T value, unsigned lanes, SIMT_LINE) const {
        return simt_exchange(simt_line, SIMT_SHUFFLE_XOR, mask(), value, lanes, width);
    }
    SIMT_METHOD int any(int predicate, SIMT_LINE) const {
        return __simt_ballot(simt_line, mask(), predicate != 0) != 0;
    }
    SIMT_METHOD int all(int predicate, SIMT_LINE) const {
        return __simt_ballot(simt_line, mask(), predicate == 0) == 0;
    }
    SIMT_METHOD simt_mask ballot(int predicate, SIMT_LINE) const {
        return (simt_mask)(__simt_ballot(simt_line, mask(), predicate != 0) >> base);
    }
    template <class T> SIMT_METHOD simt_mask match_any(T value, SIMT_LINE) const {
        return (simt_mask)(__simt_match(simt_line, mask(), simt_bits_of(value)) >> base);
    }
    template <class T> SIMT_METHOD simt_mask match_all(T value, int &all, SIMT_LINE) const {
        simt_u64 same = __simt_match(simt_line, mask(), simt_bits_of(value));
        all = same == mask();
        return all ? (simt_mask)(same >> base) : 0;
    }
};
typedef simt_lanes thread_group;

template <unsigned N, class Parent = void> struct thread_block_tile : simt_lanes {
    static_assert(N <= SIMT_WARP && (N & (N - 1)) == 0, "a tile is a power of two");
    SIMT_METHOD thread_block_tile() : simt_lanes{__simt_lane() / N * N, N} {}
    template <class Other>
    SIMT_METHOD thread_block_tile(const thread_block_tile<N, Other> &other) : simt_lanes(other) {}
    SIMT_METHOD static constexpr unsigned size() { return N; }
    SIMT_METHOD static constexpr unsigned num_threads() { return N; }
    SIMT_METHOD unsigned meta_group_rank() const { return simt_thread_rank() / N; }
    SIMT_METHOD unsigned meta_group_size() const { return (simt_block_size() + N - 1) / N; }
};
// A tile of several warps: all tiles of the block must do the same, as each waits for the block.
template <unsigned N> struct simt_large_tile {
    static_assert(N <= 1024 && (N & (N - 1)) == 0, "a tile is a power of two");
    SIMT_METHOD void sync(SIMT_LINE) const { __simt_sync_block(simt_line); }
    SIMT_METHOD static unsigned thread_rank() { return simt_thread_rank() % N; }
    SIMT_METHOD static constexpr unsigned size() { return N; }
    SIMT_METHOD static constexpr unsigned num_threads() { return N; }
    SIMT_METHOD unsigned meta_group_rank() const { return simt_thread_rank() / N; }
    SIMT_METHOD unsigned meta_group_size() const { return (simt_block_size() + N - 1) / N; }
    template <class T> SIMT_METHOD T shfl(T value, unsigned rank, SIMT_LINE) const {
        __shared__ char space[1024 * sizeof(T)];
        T *values = (T *)space;
        __simt_sync_block(simt_line);
        values[simt_thread_rank()] = value;
        __simt_sync_block(simt_line);
        return values[meta_group_rank() * N + rank % N];
    }
    template <class T> SIMT_METHOD T shfl_up(T value, unsigned delta, SIMT_LINE) const {
        unsigned rank = thread_rank();
        return shfl(value, rank >= delta ? rank - delta : rank, simt_line);
    }
    template <class T> SIMT_METHOD T shfl_down(T value, unsigned delta, SIMT_LINE) const {
        unsigned rank = thread_rank();
        return shfl(value, rank + delta < N ? rank + delta : rank, simt_line);
    }
};
template <unsigned N, class Parent, bool Large> struct simt_tile_of {
    typedef thread_block_tile<N, Parent> type;
};
template <unsigned N, class Parent> struct simt_tile_of<N, Parent, true> {
    typedef simt_large_tile<N> type;
};
template <unsigned N, class Parent>
SIMT_FN typename simt_tile_of<N, Parent, (N > SIMT_WARP)>::type tiled_partition(const Parent &) {
    return {};
}
template <class Parent> SIMT_FN thread_group tiled_partition(const Parent &, unsigned n) {
    return thread_group{__simt_lane() / n * n, n};
}

// Memory by which CUDA's tiles of more than a warp work; here they have some of their own.
template <unsigned N = 1024> struct block_tile_memory {};
template <unsigned N> SIMT_FN thread_block this_thread_block(block_tile_memory<N> &) {
    return thread_block();
}

// Lanes that happen to be there together, ranked in order.
struct coalesced_group {
    simt_u64 lanes;
    SIMT_METHOD unsigned size() const { return (unsigned)__builtin_popcountll(lanes); }
    SIMT_METHOD unsigned num_threads() const { return size(); }
    SIMT_METHOD unsigned thread_rank() const {
        return (unsigned)__builtin_popcountll(lanes & ((1ull << __simt_lane()) - 1));
    }
    SIMT_METHOD void sync(SIMT_LINE) const { __simt_sync_warp(simt_line, lanes); }
    template <class T> SIMT_METHOD T shfl(T value, unsigned rank, SIMT_LINE) const {
        return simt_exchange(simt_line, SIMT_SHUFFLE_INDEX, lanes, value,
                             simt_nth_lane(lanes, rank % size()), SIMT_WARP);
    }
    template <class T> SIMT_METHOD T shfl_up(T value, unsigned delta, SIMT_LINE) const {
        unsigned rank = thread_rank();
        return shfl(value, rank >= delta ? rank - delta : rank, simt_line);
    }
    template <class T> SIMT_METHOD T shfl_down(T value, unsigned delta, SIMT_LINE) const {
        unsigned rank = thread_rank();
        return shfl(value, rank + delta < size() ? rank + delta : rank, simt_line);
    }
    SIMT_METHOD int any(int predicate, SIMT_LINE) const {
        return __simt_ballot(simt_line, lanes, predicate != 0) != 0;
    }
    SIMT_METHOD int all(int predicate, SIMT_LINE) const {
        return __simt_ballot(simt_line, lanes, predicate == 0) == 0;
    }
    SIMT_METHOD simt_mask ballot(int predicate, SIMT_LINE) const {
        simt_u64 set = __simt_ballot(simt_line, lanes, predicate != 0), packed = 0;
        unsigned rank = 0;
        for (simt_u64 left = lanes; left; left &= left - 1, rank++) {
            packed |= (set >> __builtin_ctzll(left) & 1) << rank;
        }
        return (simt_mask)packed;
    }
    SIMT_METHOD unsigned meta_group_rank() const { return 0; }
    SIMT_METHOD unsigned meta_group_size() const { return 1; }
};
SIMT_FN coalesced_group coalesced_threads() { return coalesced_group{__simt_active()}; }
template <class Group> SIMT_FN simt_u64 simt_mask_of(const Group &group) { return group.mask(); }
SIMT_FN simt_u64 simt_mask_of(const coalesced_group &group) { return group.lanes; }
template <class Group>
SIMT_FN coalesced_group binary_partition(const Group &group, bool predicate, SIMT_LINE) {
    return coalesced_group{__simt_match(simt_line, simt_mask_of(group), predicate)};
}
template <class Group, class Label>
SIMT_FN coalesced_group labeled_partition(const Group &group, Label label, SIMT_LINE) {
    return coalesced_group{__simt_match(simt_line, simt_mask_of(group), simt_bits_of(label))};
}
template <class Group> SIMT_FN void sync(const Group &group, SIMT_LINE) { group.sync(simt_line); }

// Reductions and scans of tiles and coalesced lanes.
#define SIMT_OPERATION(name, result)                                                               \
    template <class T = void> struct name {                                                        \
        SIMT_METHOD T operator()(T a, T b) const { return result; }                                \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class T> SIMT_METHOD T operator()(T a, T b) const { return result; }             \
    };
SIMT_OPERATION(plus, a + b)
SIMT_OPERATION(less, b < a ? b : a)
SIMT_OPERATION(greater, a < b ? b : a)
SIMT_OPERATION(bit_and, a &b)
SIMT_OPERATION(bit_or, a | b)
SIMT_OPERATION(bit_xor, a ^ b)
#undef SIMT_OPERATION

template <class Group, class T, class Op>
SIMT_FN T inclusive_scan(const Group &group, T value, Op op, SIMT_LINE) {
    unsigned rank = group.thread_rank();
    for (unsigned delta = 1; delta < group.size(); delta *= 2) {
        T before = group.shfl_up(value, delta, simt_line);
        if (rank >= delta) value = op(before, value);
    }
    return value;
}
template <class Group, class T> SIMT_FN T inclusive_scan(const Group &group, T value, SIMT_LINE) {
    return inclusive_scan(group, value, plus<T>(), simt_line);
}
template <class Group, class T, class Op>
SIMT_FN T exclusive_scan(const Group &group, T value, Op op, SIMT_LINE) {
    T before = group.shfl_up(inclusive_scan(group, value, op, simt_line), 1, simt_line);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> SIMT_FN T exclusive_scan(const Group &group, T value, SIMT_LINE) {
    return exclusive_scan(group, value, plus<T>(), simt_line);
}
template <class Group, class T, class Op>
SIMT_FN T reduce(const Group &group, T value, Op op, SIMT_LINE) {
    unsigned rank = group.thread_rank(), size = group.size(), covered = 1;
    for (; covered < size; covered *= 2) {
        T other = group.shfl_down(value, covered, simt_line);
        if (rank + covered < size) value = op(value, other);
    }
    return group.shfl(value, 0, simt_line);
}

template <class Group, class T>
SIMT_FN void memcpy_async(const Group &group, T *to, const T *from, unsigned long bytes) {
    for (unsigned long at = group.thread_rank(); at < bytes / sizeof(T); at += group.size()) {
        to[at] = from[at];
    }
}
template <class Group> SIMT_FN void wait(const Group &group, SIMT_LINE) { group.sync(simt_line); }

}  // namespace cooperative_groups

! Tally for Fortran: include/tally/tally.h over ISO_C_BINDING. What functions do, and their errors, is said there.
!
!     use tally
!     real(real64), target :: x(1000), total
!     integer :: status
!     status = tally_reduce(tally_default, tally_op("sum"), tally_in(x), tally_out(total))
!     if (status /= tally_ok) print *, tally_message()
!
! Compile this file, and tally_mpi.f90 where there is MPI, with the program, and link with -ltally. Needs Fortran 2018.
module tally
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    implicit none
    private
    public :: tally_array, tally_output, tally_segments, tally_options, tally_default
    public :: tally_in, tally_out, tally_op, tally_type, tally_message
    public :: tally_offsets, tally_lengths, tally_segment_ids, tally_begin_end, tally_unsorted_ids, tally_rows
    public :: tally_features, tally_outside_refused, tally_outside_left_out
    public :: tally_reduce, tally_reduce_pair, tally_reduce_segments, tally_reduce_segments_pair
    public :: tally_context_create, tally_context_destroy, tally_set_options, tally_get_options
    public :: tally_text_of
    public :: tally_ok, tally_empty, tally_bad_argument, tally_bad_type, tally_bad_segments, tally_bad_state
    public :: tally_bad_order, tally_overflow, tally_no_memory, tally_no_space, tally_unsupported, tally_no_device
    public :: tally_device_failed, tally_status_name
    public :: tally_best, tally_fast, tally_exact, tally_nan_propagate, tally_nan_skip, tally_nan_total

    integer(c_int), parameter :: tally_ok = 0, tally_empty = 1, tally_bad_argument = 2, tally_bad_type = 3
    integer(c_int), parameter :: tally_bad_segments = 4, tally_bad_state = 5, tally_bad_order = 6, tally_overflow = 7
    integer(c_int), parameter :: tally_no_memory = 8, tally_no_space = 9, tally_unsupported = 10
    integer(c_int), parameter :: tally_no_device = 11, tally_device_failed = 12
    integer(c_int), parameter :: tally_best = 0, tally_fast = 1, tally_exact = 2
    integer(c_int), parameter :: tally_nan_propagate = 0, tally_nan_skip = 1, tally_nan_total = 2
    integer(c_int), parameter :: tally_outside_refused = 0, tally_outside_left_out = 1
    integer(c_int), parameter :: kind_lengths = 1, kind_segment_ids = 2, kind_rows = 3, kind_begin_end = 5
    integer(c_int), parameter :: kind_unsorted_ids = 6

    ! In place of a context: the process's own.
    type(c_ptr), parameter :: tally_default = c_null_ptr

    type, bind(c) :: tally_array
        type(c_ptr) :: data = c_null_ptr
        integer(c_int) :: type = 0
        integer(c_int64_t) :: count = 0, stride = 0
    end type
    type, bind(c) :: tally_output
        type(c_ptr) :: data = c_null_ptr
        integer(c_int) :: type = 0
        integer(c_int64_t) :: count = 0, stride = 0
    end type
    type, bind(c) :: tally_segments
        integer(c_int) :: kind = 0
        type(c_ptr) :: index = c_null_ptr
        integer(c_int) :: index_type = 0
        integer(c_int64_t) :: count = 0, length = 0, inner = 0
        type(c_ptr) :: ends = c_null_ptr
        integer(c_int) :: outside = 0
        type(c_ptr) :: plan = c_null_ptr
    end type
    type, bind(c) :: tally_options ! as tally_get_options gives it
        integer(c_size_t) :: size = 0
        integer(c_int) :: accuracy = 0, nan = 0, threads = 0, ddof = 0, backend = 0, overflow = 0, device = 0
        type(c_ptr) :: stream = c_null_ptr, scratch = c_null_ptr
        integer(c_size_t) :: scratch_bytes = 0
        integer(c_int) :: checked = 0
    end type

    ! An input or an output: a number or an array of any rank, all of whose values lie side by side (a section that does
    ! not is refused by the function that gets it). A variable with the attribute target, no expression.
    interface tally_in
        procedure in_int8, in_int16, in_int32, in_int64, in_real32, in_real64
    end interface
    interface tally_out
        procedure out_int8, out_int16, out_int32, out_int64, out_real32, out_real64
    end interface
    ! offsets(1:count+1), counted from 0 as in C: segment s is values offsets(s)+1 .. offsets(s+1).
    interface tally_offsets
        procedure offsets_int32, offsets_int64
    end interface
    ! lengths(1:count): segments follow one another from the first value on.
    interface tally_lengths
        procedure lengths_int32, lengths_int64
    end interface
    ! segment_ids(1:values), sorted: the segment of each value, 0 .. count-1.
    interface tally_segment_ids
        procedure segment_ids_int32, segment_ids_int64
    end interface
    ! begins(1:count) and ends(1:count), counted from 0: segment s is values begins(s)+1 .. ends(s).
    interface tally_begin_end
        procedure begin_end_int32, begin_end_int64
    end interface
    ! ids(1:values), in any order. outside: tally_outside_refused, or tally_outside_left_out for values of other ids.
    interface tally_unsorted_ids
        procedure unsorted_ids_int32, unsorted_ids_int64
    end interface

    interface
        integer(c_int) function tally_reduce(context, op, in, out) bind(c)
            import
            type(c_ptr), value :: context
            integer(c_int), value :: op
            type(tally_array), value :: in
            type(tally_output), value :: out
        end function
        integer(c_int) function tally_reduce_pair(context, op, left, right, out) bind(c)
            import
            type(c_ptr), value :: context
            integer(c_int), value :: op
            type(tally_array), value :: left, right
            type(tally_output), value :: out
        end function
        integer(c_int) function tally_reduce_segments(context, op, in, segments, out) bind(c)
            import
            type(c_ptr), value :: context
            integer(c_int), value :: op
            type(tally_array), value :: in
            type(tally_segments), value :: segments
            type(tally_output), value :: out
        end function
        integer(c_int) function tally_reduce_segments_pair(context, op, left, right, segments, out) bind(c)
            import
            type(c_ptr), value :: context
            integer(c_int), value :: op
            type(tally_array), value :: left, right
            type(tally_segments), value :: segments
            type(tally_output), value :: out
        end function
        integer(c_int) function tally_context_create(allocator, context) bind(c)
            import
            type(c_ptr), value :: allocator ! c_null_ptr
            type(c_ptr), intent(out) :: context
        end function
        subroutine tally_context_destroy(context) bind(c)
            import
            type(c_ptr), value :: context
        end subroutine
        integer(c_int) function tally_set_options(context, options) bind(c)
            import
            type(c_ptr), value :: context
            type(tally_options), intent(in) :: options
        end function
        type(tally_options) function tally_get_options(context) bind(c)
            import
            type(c_ptr), value :: context
        end function
        type(c_ptr) function c_status_name(status) bind(c, name="tally_status_name")
            import
            integer(c_int), value :: status
        end function
        type(c_ptr) function c_message() bind(c, name="tally_message")
            import
        end function
        integer(c_int) function c_op_from_name(name) bind(c, name="tally_op_from_name")
            import
            character(kind=c_char), intent(in) :: name(*)
        end function
        integer(c_int) function c_type_from_name(name) bind(c, name="tally_type_from_name")
            import
            character(kind=c_char), intent(in) :: name(*)
        end function
        integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    ! An operator and a type by name: "sum", "f64". Functions refuse what an unknown name gives.
    integer(c_int) function tally_op(name)
        character(*), intent(in) :: name
        tally_op = c_op_from_name(name//c_null_char)
    end function
    integer(c_int) function tally_type(name)
        character(*), intent(in) :: name
        tally_type = c_type_from_name(name//c_null_char)
    end function

    ! The sentence for the last status other than tally_ok.
    function tally_message() result(text)
        character(:), allocatable :: text
        text = tally_text_of(c_message())
    end function
    ! "BAD_SEGMENTS"
    function tally_status_name(status) result(text)
        integer(c_int), intent(in) :: status
        character(:), allocatable :: text
        text = tally_text_of(c_status_name(status))
    end function
    function tally_text_of(address) result(text)
        type(c_ptr), intent(in) :: address
        character(:), allocatable :: text
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        call c_f_pointer(address, letters, [c_strlen(address)])
        allocate (character(size(letters)) :: text)
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function

    ! One axis of an array. Fortran's first index runs fastest: to reduce x(:, :, k, :, :) over its axis, `inner` is the
    ! product of the extents before it and `outer` that of those behind it. Results have the shape without the axis.
    type(tally_segments) function tally_rows(outer, length, inner)
        integer(int64), intent(in) :: outer, length, inner
        tally_rows%kind = kind_rows
        tally_rows%count = outer
        tally_rows%length = length
        tally_rows%inner = inner
    end function
    ! Segments of vectors x(1:inner, 1:n).
    type(tally_segments) function tally_features(segments, inner)
        type(tally_segments), intent(in) :: segments
        integer(int64), intent(in) :: inner
        tally_features = segments
        tally_features%inner = inner
    end function
    type(tally_segments) function offsets_int32(offsets) result(segments)
        integer(int32), intent(in), target, contiguous :: offsets(:)
        segments%index = c_loc(offsets)
        segments%index_type = tally_type("i32")
        segments%count = size(offsets, kind=int64) - 1
    end function
    type(tally_segments) function offsets_int64(offsets) result(segments)
        integer(int64), intent(in), target, contiguous :: offsets(:)
        segments%index = c_loc(offsets)
        segments%index_type = tally_type("i64")
        segments%count = size(offsets, kind=int64) - 1
    end function

    type(tally_segments) function by_index(kind, index, type_name, count) result(segments)
        integer(c_int), intent(in) :: kind
        type(c_ptr), intent(in) :: index
        character(*), intent(in) :: type_name
        integer(int64), intent(in) :: count
        segments%kind = kind
        segments%index = index
        segments%index_type = tally_type(type_name)
        segments%count = count
    end function
    type(tally_segments) function lengths_int32(lengths) result(segments)
        integer(int32), intent(in), target, contiguous :: lengths(:)
        segments = by_index(kind_lengths, c_loc(lengths), "i32", size(lengths, kind=int64))
    end function
    type(tally_segments) function segment_ids_int32(segment_ids, count) result(segments)
        integer(int32), intent(in), target, contiguous :: segment_ids(:)
        integer(int64), intent(in) :: count
        segments = by_index(kind_segment_ids, c_loc(segment_ids), "i32", count)
    end function
    type(tally_segments) function begin_end_int32(begins, ends) result(segments)
        integer(int32), intent(in), target, contiguous :: begins(:), ends(:)
        segments = by_index(kind_begin_end, c_loc(begins), "i32", &
                            count_of(size(begins, kind=int64), size(begins) == size(ends)))
        segments%ends = c_loc(ends)
    end function
    type(tally_segments) function unsorted_ids_int32(ids, count, outside) result(segments)
        integer(int32), intent(in), target, contiguous :: ids(:)
        integer(int64), intent(in) :: count
        integer(c_int), intent(in), optional :: outside
        segments = by_index(kind_unsorted_ids, c_loc(ids), "i32", count)
        if (present(outside)) segments%outside = outside
    end function
    type(tally_segments) function lengths_int64(lengths) result(segments)
        integer(int64), intent(in), target, contiguous :: lengths(:)
        segments = by_index(kind_lengths, c_loc(lengths), "i64", size(lengths, kind=int64))
    end function
    type(tally_segments) function segment_ids_int64(segment_ids, count) result(segments)
        integer(int64), intent(in), target, contiguous :: segment_ids(:)
        integer(int64), intent(in) :: count
        segments = by_index(kind_segment_ids, c_loc(segment_ids), "i64", count)
    end function
    type(tally_segments) function begin_end_int64(begins, ends) result(segments)
        integer(int64), intent(in), target, contiguous :: begins(:), ends(:)
        segments = by_index(kind_begin_end, c_loc(begins), "i64", &
                            count_of(size(begins, kind=int64), size(begins) == size(ends)))
        segments%ends = c_loc(ends)
    end function
    type(tally_segments) function unsorted_ids_int64(ids, count, outside) result(segments)
        integer(int64), intent(in), target, contiguous :: ids(:)
        integer(int64), intent(in) :: count
        integer(c_int), intent(in), optional :: outside
        segments = by_index(kind_unsorted_ids, c_loc(ids), "i64", count)
        if (present(outside)) segments%outside = outside
    end function

    ! Of a section whose values lie apart, or an index that does not fit, the count is -1, which every function refuses.
    integer(int64) function count_of(values, side_by_side)
        integer(int64), intent(in) :: values
        logical, intent(in) :: side_by_side
        count_of = merge(values, -1_int64, side_by_side)
    end function

    type(tally_array) function in_int8(x) result(a)
        integer(int8), intent(in), target :: x(..)
        a = tally_array(c_loc(x), tally_type("i8"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_output) function out_int8(x) result(a)
        integer(int8), intent(inout), target :: x(..)
        a = tally_output(c_loc(x), tally_type("i8"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_array) function in_int16(x) result(a)
        integer(int16), intent(in), target :: x(..)
        a = tally_array(c_loc(x), tally_type("i16"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_output) function out_int16(x) result(a)
        integer(int16), intent(inout), target :: x(..)
        a = tally_output(c_loc(x), tally_type("i16"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_array) function in_int32(x) result(a)
        integer(int32), intent(in), target :: x(..)
        a = tally_array(c_loc(x), tally_type("i32"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_output) function out_int32(x) result(a)
        integer(int32), intent(inout), target :: x(..)
        a = tally_output(c_loc(x), tally_type("i32"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_array) function in_int64(x) result(a)
        integer(int64), intent(in), target :: x(..)
        a = tally_array(c_loc(x), tally_type("i64"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_output) function out_int64(x) result(a)
        integer(int64), intent(inout), target :: x(..)
        a = tally_output(c_loc(x), tally_type("i64"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_array) function in_real32(x) result(a)
        real(real32), intent(in), target :: x(..)
        a = tally_array(c_loc(x), tally_type("f32"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_output) function out_real32(x) result(a)
        real(real32), intent(inout), target :: x(..)
        a = tally_output(c_loc(x), tally_type("f32"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_array) function in_real64(x) result(a)
        real(real64), intent(in), target :: x(..)
        a = tally_array(c_loc(x), tally_type("f64"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
    type(tally_output) function out_real64(x) result(a)
        real(real64), intent(inout), target :: x(..)
        a = tally_output(c_loc(x), tally_type("f64"), count_of(size(x, kind=int64), is_contiguous(x)), 0)
    end function
end module
